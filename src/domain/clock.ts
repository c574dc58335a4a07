/** The source of time. It is passed in, so that tests can control it; only `main.ts` creates the real one. */
export interface Clock {
  /** Returns the wall clock time in UTC epoch milliseconds. It may jump. */
  now(): number
  /** Returns the milliseconds since an arbitrary moment. Never jumps; use it for durations. */
  monotonic(): number
}
