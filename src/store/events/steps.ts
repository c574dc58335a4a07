/** Work in steps of some milliseconds at most, after each of which others may run. */
export type Steps<Result> = Generator<void, Result>

export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Lets the event loop turn after each step. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await Bun.sleep(0)
  }
}
