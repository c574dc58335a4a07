import type { Restored } from "../services/backup/restore.ts"
import type { CallOperation } from "../services/instance/operations.ts"
import type { CommandFlag, CommandForm } from "../services/instance/plugin-commands.ts"
import type { Destination, Moved, Released } from "../services/moving/moving.ts"
import type { Report } from "../services/runtime/control.ts"
import type { ExitFault } from "../services/runtime/exit.ts"
import type { Terminal } from "./terminal.ts"

export type Flag = CommandFlag

/** Command of the command line. Its words, flags and arguments are data; `run` calls a service and prints the result. */
export interface Command extends CommandForm {
  /** Whether the command starts the server. All settings apply to it, so its help lists them. */
  serves?: true
  /** Runs the command. Throws an `ExitFault` for every exit code other than 0. */
  run(call: Call): Promise<void>
}

/** Parsed command line and environment of a command. */
export interface Call {
  /** Values of arguments and flags by name. A switch that is set has the value "1". */
  given: Readonly<Record<string, string>>
  /** Values of an argument that takes several. */
  rest: readonly string[]
  json: boolean
  terminal: Terminal
  program: Program
  /** Settings given on the command line, by key. */
  settings: Readonly<Record<string, string>>
}

/** Services that `program.ts` provides to the commands. Commands have no access to the configuration or the web server. */
export interface Program {
  version: string
  /** Returns the names and texts of the licences of all included software. */
  licenses(): Promise<string>
  /** Commands of the plugins. */
  pluginCommands: readonly CommandForm[]
  /** Returns the working directory. */
  folder(): string
  /** Resolves when the process receives a signal to stop. */
  interrupted(): Promise<void>
  /** Descriptions of the settings, by flag name. */
  settingFlags: Readonly<Record<string, string>>
  describeSettings(settings: Settings): { key: string; value: unknown; source: string }[]
  /**
   * Runs work that needs the stores: in the serving process if there is one, otherwise in this process, under the lock. Throws
   * if the data folder has no stores, unless the work may create them.
   */
  withOperations<T>(
    settings: Settings,
    report: Report,
    work: (call: CallOperation) => Promise<T>,
    options?: { mayCreateStores: boolean },
  ): Promise<T>
  /**
   * Starts the server and resolves when it listens. With `demo`, fills the instance with generated traffic first. The log is written to
   * standard output, or with `json` to standard error, so that a program can read the result.
   */
  serve(settings: Settings, options: { demo?: DemoShape; json: boolean; report: Report }): Promise<Running>
  migrate(settings: Settings, options: { backUp: boolean; report: Report }): Promise<{ migrations: string[]; backup: string | null }>
  /** Returns the pending migrations without applying them. Throws with exit code 73 while an instance holds the folder. */
  migrationStatus(settings: Settings): Promise<{ pending: string[]; is_new: boolean }>
  restore(settings: Settings, idOrPath: string, report: Report, passphrase?: string): Promise<Restored>
  /** Moves the events of a stopped instance to another engine. */
  moveEvents(settings: Settings, to: Destination, report: Report): Promise<Moved>
  /** Gives up the copy of the events that the last move has kept. */
  releaseMoved(settings: Settings): Promise<Released>
  /** Sends what happened since a moment, in epoch milliseconds, to ClickHouse again. */
  shipAgain(settings: Settings, since: number, report: Report): Promise<{ visits: number }>
  /** Throws an `ExitFault` if there is no key for stored secrets, so that no command creates one by reading it. */
  requireKey(settings: Settings): void
}
export type Settings = Readonly<Record<string, string>>

/** Amount of generated traffic. */
export interface DemoShape {
  days: number
  /** Number of events of all sites. */
  events: number
  /** Number of sites. Default: 1. */
  sites?: number
  seed: number
}

/** Address and token with which a person who reads the terminal sets up the instance. */
export interface Invitation {
  url: string
  token: string
  /** Epoch milliseconds. */
  expiresAt: number
}

/** Running server. */
export interface Running {
  /** URL of the server. */
  address: string
  /** Absolute path of the data folder. */
  dataDir: string
  /** Whether the instance has no site yet, so that the first steps are printed. */
  isNew: boolean
  /** Returns an invitation while the instance is not set up. Calls `onRenewal` with each token that replaces an expired one. */
  inviteToSetUp(onRenewal: (invitation: Invitation) => void): Promise<Invitation | undefined>
  /** Writes the line of the log that says where the server listens. Call it after the announcement, whose first line is the set-up link. */
  logStart(): void
  /** Site, key and user of a demo. */
  demo?: { site_id: number; tracking_id: string; key: string; events: number; user: { email: string; password: string } }
  /** Resolves when the server must stop because the disk lost writes. */
  failed: Promise<ExitFault>
  /** Resolves when a restart is requested. */
  restarting: Promise<void>
  stop(): Promise<void>
}
