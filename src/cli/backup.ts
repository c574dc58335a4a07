import type { Manifest } from "../services/backup-folder.ts"
import { ExitFault } from "../services/exit.ts"
import type { Command } from "./command.ts"
import { passwordFrom } from "./setup.ts"
import type { Terminal } from "./terminal.ts"

const state = ({ verified_at, failed_at }: Manifest): string => (failed_at ? "failed" : verified_at ? "verified" : "unverified")
const size = ({ files }: Manifest): string => `${(files.reduce((sum, { bytes }) => sum + bytes, 0) / 1_048_576).toFixed(1)} MiB`
const said = (manifest: Manifest): string => `${manifest.id}: ${state(manifest)}, ${size(manifest)}`

const create: Command = {
  name: "backup create",
  about: "Back both stores up; the instance may go on serving.",
  flags: {
    label: { value: "TEXT", about: "Words to find it again by." },
    "passphrase-stdin": { about: "Seal it by a passphrase from the standard input." },
  },
  async run({ given, json, terminal, program, settings }) {
    const terms = {
      ...(given.label !== undefined && { label: given.label }),
      ...(given["passphrase-stdin"] !== undefined && { passphrase: await newPassphrase(terminal) }),
    }
    const made = await program.withOperations(settings, terminal.progress, (call) => call("backup.create", terms))
    if (json) return terminal.json(made)
    terminal.line(said(made))
    terminal.line("Not inside: secret.key. Keep a copy of it elsewhere; without it sealed secrets stay unreadable.")
  },
}

const listAll: Command = {
  name: "backup list",
  about: "List the backups of the data folder.",
  async run({ json, terminal, program, settings }) {
    const backups = await program.withOperations(settings, terminal.progress, (call) => call("backup.list", {}))
    if (json) return terminal.json(backups)
    terminal.table(
      ["id", "made", "state", "size", "version"],
      backups.map((made) => [made.id, made.created_at, state(made), size(made), made.version]),
    )
  },
}

const verify: Command = {
  name: "backup verify",
  about: "Check hashes, integrity and counts of a backup again.",
  takes: ["id"],
  flags: { full: { about: "Also check every index and constraint, which takes about ten times as long." } },
  async run({ given, json, terminal, program, settings }) {
    const input = { id: given.id!, full: given.full !== undefined }
    const manifest = await program.withOperations(settings, terminal.progress, (call) => call("backup.verify", input))
    if (json) terminal.json(manifest)
    else terminal.line(said(manifest))
  },
}

const restore: Command = {
  name: "backup restore",
  about: "Put a backup in the place of the present stores, which are backed up first. The instance must be stopped.",
  takes: ["id-or-path"],
  flags: { "passphrase-stdin": { about: "Open a sealed one by a passphrase from the standard input." } },
  async run({ given, json, terminal, program, settings }) {
    const passphrase = given["passphrase-stdin"] === undefined ? undefined : await passwordFrom(terminal)
    const result = await program.restore(settings, given["id-or-path"]!, terminal.progress, passphrase)
    if (json) return terminal.json(result)
    terminal.line(`Restored ${result.restored}.`)
    if (result.safety_backup) terminal.line(`What was there before is the backup ${result.safety_backup}.`)
    if (result.replaced_files) terminal.line(`What was there before could not be read; its files are in ${result.replaced_files}.`)
  },
}

const LEAST = 12

async function newPassphrase(terminal: Terminal): Promise<string> {
  const passphrase = await passwordFrom(terminal)
  if (passphrase.length < LEAST) throw new ExitFault("usage", `a passphrase has at least ${LEAST} characters`)
  return passphrase
}

export const backupCommands: readonly Command[] = [create, listAll, verify, restore]
