import type { Report } from "../runtime/control.ts"
import { ExitFault } from "../runtime/exit.ts"

/** Option of a command. An option without `value` is a switch. */
export interface CommandFlag {
  /** Placeholder of the value in the help, such as `NAME`. */
  value?: string
  about: string
  required?: boolean
}

/** What the help says about a command and how its words are read. */
export interface CommandForm {
  /** One or two words: `site create`. */
  name: string
  about: string
  /** Names of the positional arguments. Names in brackets are optional. The last one can end with `…` and then takes all that follow. */
  takes?: readonly string[]
  flags?: Readonly<Record<string, CommandFlag>>
}

/** Words with which a command was called. */
export interface CommandInput {
  /** Values of arguments and flags by name. A switch that is set has the value "1". */
  given: Readonly<Record<string, string>>
  /** Values of an argument that takes several. */
  rest: readonly string[]
  /** Working directory of the command, to which its paths are relative. */
  folder: string
}

/** Runs a command of a plugin by its name. Returns what it prints as JSON. `signal` is aborted when the command line has ended. */
export type RunPluginCommand = (name: string, input: CommandInput, report: Report, signal: AbortSignal) => Promise<unknown>

/** Refuses commands of plugins in a process that does not serve: plugins are set up only there. */
export const refuseWithoutServer: RunPluginCommand = async (name) => {
  throw new ExitFault("unavailable", `footfall ${name} needs a running instance: start footfall serve on this data folder first`)
}
