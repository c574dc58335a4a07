import type { DamagedBackup, Manifest } from "../services/backup/folder.ts"
import { ExitFault } from "../services/runtime/exit.ts"
import type { Command } from "./command.ts"
import type { Terminal } from "./terminal.ts"
import { passwordFrom } from "./terminal.ts"

const state = ({ verified_at, failed_at }: Manifest): string => (failed_at ? "failed" : verified_at ? "verified" : "unverified")
const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`
const size = ({ files }: Manifest): string => mebibytes(files.reduce((sum, { bytes }) => sum + bytes, 0))
const isDamaged = (found: Manifest | DamagedBackup): found is DamagedBackup => "damage" in found
const summary = (manifest: Manifest): string => `${manifest.id}: ${state(manifest)}, ${size(manifest)}`

const create: Command = {
  name: "backup create",
  about: "Create a backup of both stores. The instance can keep running.",
  flags: {
    label: { value: "TEXT", about: "Label shown in the list of backups." },
    "passphrase-stdin": { about: "Encrypt the backup with a passphrase read from standard input." },
  },
  async run({ given, json, terminal, program, settings }) {
    const input = {
      ...(given.label !== undefined && { label: given.label }),
      ...(given["passphrase-stdin"] !== undefined && { passphrase: await newPassphrase(terminal) }),
    }
    const created = await program.withOperations(settings, terminal.progress, (call) => call("backup.create", input))
    if (json) return terminal.json(created)
    terminal.line(summary(created))
    terminal.line(
      "The backup does not contain secret.key. Keep a copy of that file elsewhere: without it, stored secrets cannot be decrypted.",
    )
  },
}

const listAll: Command = {
  name: "backup list",
  about: "List the backups in the data folder.",
  async run({ json, terminal, program, settings }) {
    const backups = await program.withOperations(settings, terminal.progress, (call) => call("backup.list", {}))
    if (json) return terminal.json(backups)
    terminal.table(
      ["id", "created", "state", "size", "version"],
      backups.map((found) =>
        isDamaged(found)
          ? [found.id, found.created_at, "damaged", mebibytes(found.bytes), undefined]
          : [found.id, found.created_at, state(found), size(found), found.version],
      ),
    )
    for (const { id, damage } of backups.filter(isDamaged)) terminal.line(`${id}: ${damage}`)
  },
}

const verify: Command = {
  name: "backup verify",
  about: "Verify the hashes, integrity and row counts of a backup.",
  takes: ["id"],
  flags: { full: { about: "Also check every index and constraint. Takes about ten times as long." } },
  async run({ given, json, terminal, program, settings }) {
    const input = { id: given.id!, full: given.full !== undefined }
    const manifest = await program.withOperations(settings, terminal.progress, (call) => call("backup.verify", input))
    if (json) terminal.json(manifest)
    else terminal.line(summary(manifest))
  },
}

const restore: Command = {
  name: "backup restore",
  about: "Replace the current stores with a backup, after backing them up. The instance must be stopped.",
  takes: ["id-or-path"],
  flags: { "passphrase-stdin": { about: "Decrypt the backup with a passphrase read from standard input." } },
  async run({ given, json, terminal, program, settings }) {
    const passphrase = given["passphrase-stdin"] === undefined ? undefined : await passwordFrom(terminal)
    const result = await program.restore(settings, given["id-or-path"]!, terminal.progress, passphrase)
    if (json) return terminal.json(result)
    terminal.line(`Restored ${result.restored}.`)
    if (result.safety_backup) terminal.line(`The previous state is backup ${result.safety_backup}.`)
    if (result.replaced_files) terminal.line(`The previous stores could not be read. Their files are in ${result.replaced_files}.`)
  },
}

/** Minimum length of a passphrase, in characters. */
const MIN_PASSPHRASE_CHARS = 12

async function newPassphrase(terminal: Terminal): Promise<string> {
  const passphrase = await passwordFrom(terminal)
  if (passphrase.length < MIN_PASSPHRASE_CHARS)
    throw new ExitFault("usage", `the passphrase must have at least ${MIN_PASSPHRASE_CHARS} characters`)
  return passphrase
}

export const backupCommands: readonly Command[] = [create, listAll, verify, restore]
