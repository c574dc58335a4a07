import { callServer, type Report } from "../runtime/control.ts"
import { ExitFault } from "../runtime/exit.ts"
import { readRun } from "../runtime/lock.ts"
import { type Operations, runOperation } from "./operations.ts"

/** Calls an operation of an instance, in whichever process it runs. */
export type CallOperation = <Name extends keyof Operations>(
  name: Name,
  input: Parameters<Operations[Name]>[0],
) => Promise<Awaited<ReturnType<Operations[Name]>>>

export interface ReachOptions {
  dataDir: string
  report: Report
  /** Takes the lock and opens the stores. Rejects with `inUse` when another process uses them. */
  open(): Promise<{ operations: Operations; close(): Promise<void> }>
}

/** Number of attempts while another command, which runs only briefly, uses the folder. */
const MAX_ATTEMPTS = 50
const PAUSE_MS = 100

/** Runs work on an instance: in the serving process if there is one, otherwise in this process, which opens the stores meanwhile. */
export async function withOperations<T>(options: ReachOptions, work: (call: CallOperation) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inThisProcess(options, work)
    } catch (error) {
      if (!(error instanceof ExitFault) || error.exit !== "inUse") throw error
      const control = readRun(options.dataDir)?.control
      if (control !== undefined) return inServer(control, options.report, work)
      if (attempt === MAX_ATTEMPTS) throw error
      await Bun.sleep(PAUSE_MS)
    }
  }
}

async function inThisProcess<T>({ open, report }: ReachOptions, work: (call: CallOperation) => Promise<T>): Promise<T> {
  const { operations, close } = await open()
  try {
    // An operation returns the result of its name.
    return await work(((name, input) => runOperation(operations, name, input, report)) as CallOperation)
  } finally {
    await close()
  }
}

/** Runs work in the serving process. Results are sent as JSON, which preserves these plain values. */
const inServer = <T>(control: string, report: Report, work: (call: CallOperation) => Promise<T>): Promise<T> =>
  work(((name, input) => callServer(control, name, input, report)) as CallOperation)
