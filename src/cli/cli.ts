import { AppError, type ErrorCode } from "../domain/error.ts"
import { EXIT, ExitFault, type ExitName } from "../services/exit.ts"
import { findCommand, readArguments, usageOf } from "./arguments.ts"
import { backupCommands } from "./backup.ts"
import type { Command, Program } from "./command.ts"
import { configPrint } from "./config.ts"
import { demo } from "./demo.ts"
import { doctor } from "./doctor.ts"
import { exportSite } from "./export.ts"
import { health } from "./health.ts"
import { keyCommands } from "./key.ts"
import { migrateCommands } from "./migrate.ts"
import { organizationCommands } from "./organization.ts"
import { retentionRun } from "./retention.ts"
import { secretsCommands } from "./secrets.ts"
import { serve } from "./serve.ts"
import { setup } from "./setup.ts"
import { shieldCommands } from "./shield.ts"
import { siteCommands } from "./site.ts"
import { createTerminal, type Streams } from "./terminal.ts"
import { userCommands } from "./user.ts"
import { versionCommand } from "./version.ts"

/** In the order of the help. */
const COMMANDS: readonly Command[] = [
  serve,
  demo,
  setup,
  ...organizationCommands,
  ...siteCommands,
  exportSite,
  ...shieldCommands,
  ...keyCommands,
  ...userCommands,
  ...backupCommands,
  retentionRun,
  ...secretsCommands,
  ...migrateCommands,
  health,
  doctor,
  configPrint,
  versionCommand,
]

/** Runs the command line and returns the exit code. A failure is one line on the error stream. */
export async function runCommandLine(argv: readonly string[], program: Program, streams: Streams): Promise<number> {
  try {
    return await dispatch(argv, program, streams)
  } catch (error) {
    streams.err(`footfall: ${messageOf(error)}\n`)
    return EXIT[exitOf(error)]
  }
}

async function dispatch(argv: readonly string[], program: Program, streams: Streams): Promise<number> {
  const terminal = createTerminal(streams)
  if (argv[0] === "help" || (argv[0]?.startsWith("-") && argv.some(isHelp))) return help(argv.slice(1), terminal.line)
  const { command, rest } = findCommand(argv, COMMANDS)
  if (!command) return group(argv, terminal.line)
  const { given, settings, json, help: asked } = readArguments(rest, command, program.settingFlags)
  if (asked) return commandHelp(command, program, terminal.line)
  try {
    await command.run({ given, json, terminal, program, settings })
    return EXIT.orderly
  } finally {
    terminal.endProgress()
  }
}

const isHelp = (word: string): boolean => word === "--help" || word === "-h"

/** Of a word that only begins commands (`site`), those commands; of an unknown one, exit code 64. */
function group(argv: readonly string[], line: (text: string) => void): number {
  const word = argv[0] ?? ""
  const inside = COMMANDS.filter(({ name }) => name.startsWith(`${word} `))
  if (inside.length > 0 && (argv.length === 1 || argv.some(isHelp))) return help([word], line)
  const hint = inside.length > 0 ? inside.map(({ name }) => name).join(", ") : "footfall help lists all commands"
  throw new ExitFault(
    "usage",
    `unknown command ${JSON.stringify(argv.slice(0, inside.length > 0 ? 2 : 1).join(" "))}\nusage: footfall <command> [flags]; ${hint}`,
  )
}

function help(words: readonly string[], line: (text: string) => void): number {
  const shown = COMMANDS.filter(({ name }) => words.length === 0 || name.split(" ")[0] === words[0])
  line("usage: footfall <command> [flags]\n")
  for (const { name, about } of shown) line(`  ${name.padEnd(20)} ${about}`)
  line("\nfootfall <command> --help tells its flags. Without a command: serve.")
  return EXIT.orderly
}

function commandHelp(command: Command, program: Program, line: (text: string) => void): number {
  line(`${usageOf(command)}\n\n${command.about}\n`)
  for (const [flag, { value, about }] of Object.entries(command.flags ?? {}))
    line(`  ${`--${flag}${value ? ` ${value}` : ""}`.padEnd(28)} ${about}`)
  line(`  ${"--json".padEnd(28)} Print data as JSON.`)
  line(`  ${"--config FILE".padEnd(28)} Settings file to read.`)
  if (command.serves) return settingsHelp(program, line)
  line(`  ${"--data-dir PATH".padEnd(28)} ${program.settingFlags["data-dir"]}`)
  line("\nAll settings are flags as well: footfall serve --help lists them.")
  return EXIT.orderly
}

function settingsHelp({ settingFlags }: Program, line: (text: string) => void): number {
  line("\nSettings, each also as FOOTFALL_… in the environment:")
  for (const [flag, about] of Object.entries(settingFlags)) line(`  ${`--${flag}`.padEnd(28)} ${about}`)
  return EXIT.orderly
}

/** What the instance could not do just now; every other refusal is of what was typed. */
const OF_THE_INSTANCE: readonly ErrorCode[] = ["unavailable", "storage_full", "storage_damaged", "query_timeout", "internal_error"]

function exitOf(error: unknown): ExitName {
  if (error instanceof ExitFault) return error.exit
  return error instanceof AppError && !OF_THE_INSTANCE.includes(error.code) ? "usage" : "failed"
}

function messageOf(error: unknown): string {
  if (error instanceof AppError) {
    const faults = (error.members.errors ?? []).map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`)
    return [error.message, ...faults].join(" ")
  }
  if (error instanceof ExitFault) return error.message
  return `unexpected failure: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
}
