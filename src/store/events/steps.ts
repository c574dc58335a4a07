/** Work in steps of a few milliseconds, between which other work can run. */
export type Steps<Result> = Generator<void, Result>

/** Runs all steps at once. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Runs the steps and yields to the event loop after each. */
export async function runStepsYielding<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await Bun.sleep(0)
  }
}
