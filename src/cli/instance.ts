import { ExitFault } from "../services/runtime/exit.ts"
import { wholeNumber } from "./arguments.ts"
import type { Command } from "./command.ts"

export const health: Command = {
  name: "health",
  about: "Report health; exits 1 if the instance is refusing requests.",
  async run({ json, terminal, program, settings }) {
    const { status, reasons, warnings } = await program.withOperations(settings, terminal.progress, (call) => call("health", {}))
    if (json) terminal.json({ status, reasons, warnings })
    else {
      terminal.line(status)
      for (const { code, since } of [...reasons, ...warnings]) terminal.line(`${code}, since ${since}`)
    }
    if (status !== "ok") throw new ExitFault("failed", `the instance is degraded: ${reasons.map(({ code }) => code).join(", ")}`)
  },
}

export const doctor: Command = {
  name: "doctor",
  about: "Run all checks of the instance; exits 1 if one fails.",
  async run({ json, terminal, program, settings }) {
    const checks = await program.withOperations(settings, terminal.progress, (call) => call("doctor", {}))
    if (json) terminal.json(checks)
    else
      terminal.table(
        ["check", "status", "evidence", "remedy"],
        checks.map(({ name, status, detail, fix }) => [name, status, detail, fix]),
      )
    const failed = checks.filter(({ status }) => status === "fail")
    if (failed.length > 0)
      throw new ExitFault("failed", `${failed.length} of ${checks.length} checks failed: ${failed.map(({ name }) => name).join(", ")}`)
  },
}

export const configPrint: Command = {
  name: "config print",
  about: "Print every setting with its value and source. Secrets are masked.",
  async run({ json, terminal, program, settings }) {
    const described = program.describeSettings(settings)
    if (json) return terminal.json(described)
    const shown = described.map(({ key, value, source }) => [key, Array.isArray(value) ? value.join(",") : value, source])
    terminal.table(["setting", "value", "source"], shown)
  },
}

export const versionCommand: Command = {
  name: "version",
  about: "Print the version.",
  flags: { licenses: { about: "Print the licences of all included software instead." } },
  async run({ given, json, terminal, program }) {
    const output = given.licenses ? { licenses: (await program.licenses()).trimEnd() } : { version: program.version }
    if (json) terminal.json(output)
    else terminal.line(Object.values(output)[0]!)
  },
}

export const retentionRun: Command = {
  name: "retention run",
  about: "Delete visits and imported totals older than the retention period, for all sites or for one.",
  flags: {
    site: { value: "ID", about: "Only this site." },
    days: { value: "N", about: "Keep N days, whatever the settings of the site are." },
    "dry-run": { about: "Count the data without deleting it." },
  },
  async run({ given, json, terminal, program, settings }) {
    const input = {
      ...(given.site !== undefined && { site_id: wholeNumber(given.site, "--site", { min: 1, max: Number.MAX_SAFE_INTEGER }) }),
      ...(given.days !== undefined && { retention_days: wholeNumber(given.days, "--days", { min: 1, max: 3_650 }) }),
    }
    if (given["dry-run"] === undefined) {
      const done = await program.withOperations(settings, terminal.progress, (call) => call("retention.run", input))
      if (json) terminal.json(done)
      else terminal.line(`${done.visits} visits deleted.`)
      return
    }
    const found = await program.withOperations(settings, terminal.progress, (call) => call("retention.preview", input))
    if (json) return terminal.json(found)
    terminal.table(
      ["site", "kind", "before", "rows", "events", "days"],
      found.by.map(({ site_id, kind, cutoff, rows, events, days }) => [site_id, kind, cutoff, rows, events, days]),
    )
  },
}

const exportKey: Command = {
  name: "secrets export-key",
  about: "Print the key that encrypts stored secrets. No backup contains it; keep a copy apart from the backups.",
  async run({ json, terminal, program, settings }) {
    program.requireKey(settings)
    const { secret_key } = await program.withOperations(settings, terminal.progress, (call) => call("secrets.export-key", {}))
    if (json) terminal.json({ secret_key })
    else terminal.line(secret_key)
  },
}

const rotateKey: Command = {
  name: "secrets rotate",
  about: "Encrypt all stored secrets with a new key. Users stay signed in. Restoring an older backup needs the previous key.",
  async run({ json, terminal, program, settings }) {
    program.requireKey(settings)
    const done = await program.withOperations(settings, terminal.progress, (call) => call("secrets.rotate", {}))
    if (json) return terminal.json(done)
    terminal.line(`${done.sealed} secrets were encrypted with the new key.`)
    if (done.unreadable > 0) terminal.line(`${done.unreadable} secrets were encrypted with a lost key and remain unreadable.`)
    if (done.previous_until !== undefined) terminal.line(`The previous key stays in secret.key until ${done.previous_until}.`)
    terminal.line("Keep a copy of the new key apart from the backups: footfall secrets export-key")
  },
}

export const secretsCommands: readonly Command[] = [exportKey, rotateKey]

const migrateUp: Command = {
  name: "migrate up",
  about: "Migrate both stores to this version, after a backup. footfall serve does the same when it starts.",
  flags: { "no-backup": { about: "Skip the backup." } },
  async run({ given, json, terminal, program, settings }) {
    const result = await program.migrate(settings, { backUp: given["no-backup"] === undefined, report: terminal.progress })
    if (json) return terminal.json(result)
    terminal.line(
      result.migrations.length === 0
        ? "Nothing to do: both stores are up to date."
        : `Migrations applied: ${result.migrations.join(", ")}.`,
    )
    if (result.backup) terminal.line(`The previous state is backup ${result.backup}.`)
  },
}

const migrateStatus: Command = {
  name: "migrate status",
  about: "List pending migrations without applying them.",
  async run({ json, terminal, program, settings }) {
    const found = await program.migrationStatus(settings)
    if (json) return terminal.json(found)
    if (found.is_new) terminal.line("The stores do not exist yet.")
    else terminal.line(found.pending.length === 0 ? "Both stores are up to date." : `Pending migrations: ${found.pending.join(", ")}.`)
  },
}

/** Commands for migrations. `migrate` without a second word is `migrate up`. */
export const migrateCommands: readonly Command[] = [migrateUp, migrateStatus, { ...migrateUp, name: "migrate" }]
