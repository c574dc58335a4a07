import { callServer, type Report } from "../runtime/control.ts"
import { ExitFault } from "../runtime/exit.ts"
import { readRun } from "../runtime/lock.ts"
import { type Operations, runOperation } from "./operations.ts"

/** Calls one operation of an instance, wherever it runs. */
export type CallOperation = <Name extends keyof Operations>(
  name: Name,
  input: Parameters<Operations[Name]>[0],
) => Promise<Awaited<ReturnType<Operations[Name]>>>

export interface ReachOptions {
  dataDir: string
  report: Report
  /** Takes the lock and opens the stores; rejects with `inUse` when somebody holds them. */
  open(): Promise<{ operations: Operations; close(): Promise<void> }>
}

/** Another command holds the folder for a moment only. */
const TRIES = 50
const PAUSE_MS = 100

/** Runs work on an instance: in the serving process when there is one, else here, with the stores open meanwhile. */
export async function withOperations<T>(options: ReachOptions, work: (call: CallOperation) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await here(options, work)
    } catch (error) {
      if (!(error instanceof ExitFault) || error.exit !== "inUse") throw error
      const control = readRun(options.dataDir)?.control
      if (control !== undefined) return there(control, options.report, work)
      if (attempt === TRIES) throw error
      await Bun.sleep(PAUSE_MS)
    }
  }
}

async function here<T>({ open, report }: ReachOptions, work: (call: CallOperation) => Promise<T>): Promise<T> {
  const { operations, close } = await open()
  try {
    // What is run under a name answers as that name does.
    return await work(((name, input) => runOperation(operations, name, input, report)) as CallOperation)
  } finally {
    await close()
  }
}

/** The answer has been through JSON, which changes none of these plain values. */
const there = <T>(control: string, report: Report, work: (call: CallOperation) => Promise<T>): Promise<T> =>
  work(((name, input) => callServer(control, name, input, report)) as CallOperation)
