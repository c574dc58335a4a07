import { AppError, type ErrorCode } from "../domain/error.ts"
import { EXIT, ExitFault, type ExitName } from "../services/runtime/exit.ts"
import { findCommand, readArguments, usageOf } from "./arguments.ts"
import { backupCommands } from "./backup.ts"
import type { Command, Program } from "./command.ts"
import { engineCommands } from "./engine.ts"
import { configPrint, doctor, health, migrateCommands, retentionRun, secretsCommands, versionCommand } from "./instance.ts"
import { keyCommands } from "./key.ts"
import { nodeCommands } from "./node.ts"
import { pluginCommand } from "./plugin.ts"
import { demo, serve } from "./serve.ts"
import { shieldCommands } from "./shield.ts"
import { exportSite, siteCommands } from "./site.ts"
import { createTerminal, type Streams } from "./terminal.ts"
import { organizationCommands, setup, userCommands } from "./user.ts"

/** The commands of the core, in the order of the help. */
const CORE_COMMANDS: readonly Command[] = [
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
  ...engineCommands,
  ...nodeCommands,
  retentionRun,
  ...secretsCommands,
  ...migrateCommands,
  health,
  doctor,
  configPrint,
  versionCommand,
]

/** Runs a command line and returns the exit code. Writes failures to the error stream, each on one line. */
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
  const commands = [...CORE_COMMANDS, ...program.pluginCommands.map(pluginCommand)]
  if (argv[0] === "help" || (argv[0]?.startsWith("-") && argv.some(isHelp))) return help(commands, argv.slice(1), terminal.line)
  const { command, rest: words } = findCommand(argv, commands)
  if (!command) return group(commands, argv, terminal.line)
  const { given, rest, settings, json, help: wantsHelp } = readArguments(words, command, program.settingFlags)
  if (wantsHelp) return commandHelp(command, program, terminal.line)
  try {
    await command.run({ given, rest, json, terminal, program, settings })
    return EXIT.orderly
  } finally {
    terminal.endProgress()
  }
}

const isHelp = (word: string): boolean => word === "--help" || word === "-h"

/** Prints the commands that begin with a word such as `site`. Throws a usage fault for an unknown word. */
function group(commands: readonly Command[], argv: readonly string[], line: (text: string) => void): number {
  const word = argv[0] ?? ""
  const inside = commands.filter(({ name }) => name.startsWith(`${word} `))
  if (inside.length > 0 && (argv.length === 1 || argv.some(isHelp))) return help(commands, [word], line)
  const hint = inside.length > 0 ? inside.map(({ name }) => name).join(", ") : "footfall help lists all commands"
  throw new ExitFault(
    "usage",
    `unknown command ${JSON.stringify(argv.slice(0, inside.length > 0 ? 2 : 1).join(" "))}\nusage: footfall <command> [flags]; ${hint}`,
  )
}

function help(commands: readonly Command[], words: readonly string[], line: (text: string) => void): number {
  const listed = commands.filter(({ name }) => words.length === 0 || name.split(" ")[0] === words[0])
  line("usage: footfall <command> [flags]\n")
  for (const { name, about } of listed) line(`  ${name.padEnd(20)} ${about}`)
  line("\nRun footfall <command> --help for the flags of a command. Without a command, footfall runs serve.")
  return EXIT.orderly
}

function commandHelp(command: Command, program: Program, line: (text: string) => void): number {
  line(`${usageOf(command)}\n\n${command.about}\n`)
  for (const [flag, { value, about }] of Object.entries(command.flags ?? {}))
    line(`  ${`--${flag}${value ? ` ${value}` : ""}`.padEnd(28)} ${about}`)
  line(`  ${"--json".padEnd(28)} Print the result as JSON${command.serves ? ", and the log on standard error" : ""}.`)
  line(`  ${"--config FILE".padEnd(28)} Path of the settings file.`)
  if (command.serves) return settingsHelp(program, line)
  line(`  ${"--data-dir PATH".padEnd(28)} ${program.settingFlags["data-dir"]}`)
  line("\nEvery setting can also be given as a flag. Run footfall serve --help for the list.")
  return EXIT.orderly
}

function settingsHelp({ settingFlags }: Program, line: (text: string) => void): number {
  line("\nSettings. Each can also be set by an environment variable FOOTFALL_…:")
  for (const [flag, about] of Object.entries(settingFlags)) line(`  ${`--${flag}`.padEnd(28)} ${about}`)
  return EXIT.orderly
}

/** Codes of failures of the instance. All other codes mean that the input is wrong. */
const INSTANCE_FAILURES: readonly ErrorCode[] = ["unavailable", "storage_full", "storage_damaged", "query_timeout", "internal_error"]

function exitOf(error: unknown): ExitName {
  if (error instanceof ExitFault) return error.exit
  return error instanceof AppError && !INSTANCE_FAILURES.includes(error.code) ? "usage" : "failed"
}

function messageOf(error: unknown): string {
  if (error instanceof AppError) {
    const faults = (error.members.errors ?? []).map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`)
    return [error.message, ...faults].join(" ")
  }
  if (error instanceof ExitFault) return error.message
  return `unexpected failure: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
}
