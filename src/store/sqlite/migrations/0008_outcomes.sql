-- compatible with 5
-- The outcome of the task's attempt, from a worker that could not decide it itself. Meaningful only in
-- a row without a handler, and only if the token still stands at that attempt.
ALTER TABLE tasks ADD COLUMN outcome TEXT;
