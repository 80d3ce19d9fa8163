-- expires_at is a date, which means nothing once the clock of the machine is set. All processes of one
-- boot share a clock that is never set: by it the leases of boot_id end at steady_until. A worker of
-- another boot is judged by expires_at.
ALTER TABLE workers ADD COLUMN boot_id TEXT NOT NULL DEFAULT '';
ALTER TABLE workers ADD COLUMN steady_until INTEGER NOT NULL DEFAULT 0;

-- Programs that know the schema up to this number go on with the migration; NULL: it asks for a
-- program that knows it.
ALTER TABLE migrations ADD COLUMN compatible_with INTEGER;
