const immediate = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Lets the event loop handle what has arrived. An immediate that is requested while the loop handles events runs before it looks for further
 * ones, so one alone would let nothing pass.
 */
export async function loopTurn(): Promise<void> {
  await immediate()
  await immediate()
}

/** Time in milliseconds after which work lets the event loop run. */
const TURN_MS = 2

/**
 * Creates the function that work of many synchronous steps awaits before each: it lets the event loop run when the steps of its present turn
 * have taken too long, because promises alone never do. Those that wait go on in the order of their calls.
 */
export function createTurns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  /** When the work of this turn of the event loop began. Undefined if there was none yet. */
  let began: number | undefined
  const yieldAtTimes = async (): Promise<void> => {
    if (began !== undefined && performance.now() - began > TURN_MS) await loopTurn()
    if (began !== undefined) return
    began = performance.now()
    setImmediate(() => {
      began = undefined
    })
  }
  return () => {
    last = last.then(yieldAtTimes)
    return last
  }
}
