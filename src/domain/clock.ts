/** Time is passed in, never read from the environment: only `main.ts` knows the real one. */
export interface Clock {
  /** UTC epoch milliseconds by the wall clock, which may jump. */
  now(): number
  /** Milliseconds since some moment; never jumps. For durations. */
  monotonic(): number
}
