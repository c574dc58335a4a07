import type { Report } from "../services/control.ts"
import type { ExitFault } from "../services/exit.ts"
import type { CallOperation } from "../services/reach.ts"
import type { Restored } from "../services/restore.ts"
import type { Terminal } from "./terminal.ts"

/** One option of a command. Without `value` it is a switch. */
export interface Flag {
  /** What stands for the value in the help, such as `NAME`. */
  value?: string
  about: string
  required?: boolean
}

/** One command of the command line. Its words, flags and arguments are data; `run` is a few lines over a service. */
export interface Command {
  /** One or two words: `site create`. */
  name: string
  about: string
  /** Names of what follows the words; one in brackets may be left out. */
  takes?: readonly string[]
  flags?: Readonly<Record<string, Flag>>
  /** All settings act on it, so its help lists them. */
  serves?: true
  /** Throws `ExitFault` for any end but an orderly one. */
  run(call: Call): Promise<void>
}

/** What a command is given. */
export interface Call {
  /** Values by name: arguments and flags. A switch that is set is "1". */
  given: Readonly<Record<string, string>>
  json: boolean
  terminal: Terminal
  program: Program
  /** Settings from the command line, by key. */
  settings: Readonly<Record<string, string>>
}

/** What `main.ts` wires for the commands: they see services, never the configuration or the web server. */
export interface Program {
  version: string
  /** The licences of everything inside, with their texts. */
  licenses(): Promise<string>
  /** Resolves when the process is asked to end. */
  interrupted(): Promise<void>
  /** Flags that settings have, with a sentence each. */
  settingFlags: Readonly<Record<string, string>>
  describeSettings(settings: Settings): { key: string; value: unknown; source: string }[]
  /** Runs work that needs the stores: in the serving process when there is one, else here, under the lock. */
  withOperations<T>(settings: Settings, report: Report, work: (call: CallOperation) => Promise<T>): Promise<T>
  /** Starts serving and resolves when it listens. `demo` fills the instance with invented traffic first. */
  serve(settings: Settings, options: { demo?: DemoShape; report: Report }): Promise<Running>
  migrate(settings: Settings, options: { backUp: boolean; report: Report }): Promise<{ migrations: string[]; backup: string | null }>
  /** What would be migrated, and what is; changes nothing. Exit code 73 while an instance holds the folder. */
  migrationStatus(settings: Settings): Promise<{ pending: string[]; is_new: boolean }>
  restore(settings: Settings, idOrPath: string, report: Report, passphrase?: string): Promise<Restored>
  /** Throws an `ExitFault` where there is no key that seals secrets: a command must not make one by asking for it. */
  requireKey(settings: Settings): void
}
export type Settings = Readonly<Record<string, string>>

/** How much traffic is made up. */
export interface DemoShape {
  days: number
  /** Of all sites together. */
  events: number
  /** One, unless said otherwise. */
  sites?: number
  seed: number
}

/** What lets whoever sees the terminal set the instance up. */
export interface Invitation {
  url: string
  token: string
  /** Epoch milliseconds. */
  expiresAt: number
}

/** A serving instance. */
export interface Running {
  /** Where it can be reached. */
  address: string
  /** Nothing was set up yet: whoever started it wants to know how to begin. */
  isNew: boolean
  /** While nobody has set the instance up: how to; `tellLater` gets each token that takes the place of an expired one. */
  inviteToSetUp(tellLater: (invitation: Invitation) => void): Promise<Invitation | undefined>
  /** What was made up, of a demo. */
  demo?: { site_id: number; tracking_id: string; key: string; events: number; user: { email: string; password: string } }
  /** Resolves when it cannot go on: the disk has lost writes. */
  failed: Promise<ExitFault>
  /** Resolves when it is to stop and begin anew. */
  restarting: Promise<void>
  stop(): Promise<void>
}
