// The server's time as this browser knows it, ticking once a second while the page is visible.
let skew = 0;
let now = $state(Date.now());
let timer: ReturnType<typeof setInterval> | undefined;

function tick() {
  now = Date.now() + skew;
}

function start() {
  clearInterval(timer);
  tick();
  timer = document.visibilityState === 'visible' ? setInterval(tick, 1000) : undefined;
}

export const clock = {
  /** Milliseconds; reading it in a template makes the template follow the time. */
  get now() {
    return now;
  },
  /** A server with another time must not make everything look "in 3 minutes". */
  sync(server: string | undefined | null) {
    const time = Date.parse(server ?? '');
    if (Number.isNaN(time)) return;
    const difference = time - Date.now();
    skew = Math.abs(difference) > 2000 ? difference : 0;
    tick();
  },
};

export function startClock() {
  document.addEventListener('visibilitychange', start);
  start();
}
