import { Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { type Actor, type AuditEntry, actingUserId } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { instantText } from "../../domain/moment.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { putSetting, settingByKey } from "../../store/catalog/settings.ts"
import type { Audit } from "../audit/audit.ts"
import type { JobSlots } from "../jobs/schedules.ts"
import type { Alarms } from "../mail/alarms.ts"
import type { Outbound } from "../outbound/outbound.ts"
import type { Task } from "../runtime/tasks.ts"
import type { InstanceSettings } from "../settings/settings.ts"

/** Information about newer versions. */
export interface UpdateReport {
  current: string
  /** Whether an update URL is configured. */
  is_possible: boolean
  /** Whether updates are checked daily. */
  is_automatic: boolean
  checked_at: string | null
  /** Reason why the last check failed. */
  failure: string | null
  latest: Release | null
  is_newer: boolean
}

export interface Release {
  version: string
  released_at: string | null
  /** Plain text. */
  notes: string
  /** Whether installing it migrates the stores, which makes a backup first. */
  changes_schema: boolean
}

/**
 * Checks for newer versions at the URL that the operator configured, on request or once a day if enabled. It sends the current
 * version and nothing else.
 */
export interface Updates {
  report(): Promise<UpdateReport>
  /** Checks for updates. Throws `invalid_state` without a URL, `outbound_disabled`. A failed check is described in the report. */
  check(actor: Actor): Promise<UpdateReport>
  task: Task
}

interface UpdatesOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Pick<Audit, "write">
  alarms: Pick<Alarms, "raise" | "end">
  outbound: Pick<Outbound, "enabled" | "fetch">
  settings: Pick<InstanceSettings, "get">
  slots: JobSlots
  version: string
  /** URL of the document that names the latest version. Set by the operator, so private addresses are allowed. */
  updatesUrl: string | undefined
}

const Document = t.Object({
  version: t.String({ pattern: "^\\d+\\.\\d+\\.\\d+[0-9A-Za-z.+-]*$", maxLength: 60 }),
  released_at: t.Optional(t.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d(T[0-9:.]+Z)?$" })),
  notes: t.Optional(t.String()),
  changes_schema: t.Optional(t.Boolean()),
})
const StoredCheck = t.Object({ at: t.Integer(), failure: t.Union([t.String(), t.Null()]), latest: t.Unknown() })

const KEY = "update_check"
const NOTES_CHARS = 10_000
const HOUR = 3_600
const SYSTEM: Actor = { kind: "system", email: "system", ipPrefix: "", userAgent: "", requestId: "" }
const CHECK_ENTRY: AuditEntry = { action: "admin.update.check", target: { type: "instance", id: "updates", label: "" } }

export function createUpdates(options: UpdatesOptions): Updates {
  const { catalog, clock, audit, alarms, outbound, settings, slots, version, updatesUrl } = options

  async function fetchRelease(url: string): Promise<Release> {
    const address = new URL(url)
    address.searchParams.set("version", version)
    const { status, body } = await outbound.fetch(address.href, { byOperator: true })
    if (status !== 200) throw new AppError("outbound_failed", `The update server responded with status ${status}.`)
    const document = parsed(body)
    if (!Value.Check(Document, document))
      throw new AppError("outbound_failed", "The response of the update server does not describe a version.")
    const { released_at = null, notes = "", changes_schema = false } = document
    return { version: document.version, released_at, notes: plainText(notes), changes_schema }
  }
  async function report(): Promise<UpdateReport> {
    const stored = await settingByKey(catalog, KEY)
    const last = Value.Check(StoredCheck, stored) ? stored : undefined
    const latest = (last?.latest ?? null) as Release | null // written below
    return {
      current: version,
      is_possible: updatesUrl !== undefined && outbound.enabled,
      is_automatic: settings.get("updates_check"),
      checked_at: last ? instantText(last.at) : null,
      failure: last?.failure ?? null,
      latest,
      is_newer: latest !== null && Bun.semver.order(latest.version, version) > 0,
    }
  }
  async function check(actor: Actor): Promise<UpdateReport> {
    if (!outbound.enabled) throw new AppError("outbound_disabled", "Outgoing requests are disabled on this instance.")
    if (updatesUrl === undefined)
      throw new AppError("invalid_state", "Update checks are off: no URL is configured (updates_url).", { state: "no_address" })
    const before = await report()
    const found = await fetchRelease(updatesUrl).then(
      (latest) => ({ latest, failure: null }),
      (error) => {
        if (!(error instanceof AppError)) throw error
        // The last known release remains.
        return { latest: before.latest, failure: error.message }
      },
    )
    await catalog.transaction(async (statements) => {
      const updated_by = actingUserId(actor)
      await putSetting(statements, { key: KEY, value: { at: clock.now(), ...found }, updated_by, updated_at: clock.now() })
      const outcome = found.failure === null ? "ok" : "failed"
      await audit.write(statements, actor, {
        ...CHECK_ENTRY,
        outcome,
        changes: { latest: [before.latest?.version ?? null, found.latest?.version ?? null] },
      })
    })
    const after = await report()
    if (after.is_newer) await alarms.raise("update_available", { current: version, latest: after.latest?.version ?? null })
    else await alarms.end("update_available")
    return after
  }

  return {
    report,
    check,
    task: {
      name: "check-updates",
      every: HOUR,
      async run() {
        if (!settings.get("updates_check") || updatesUrl === undefined || !outbound.enabled) return
        await slots.once({ name: "check-updates", due: instantText(clock.now()).slice(0, 10) }, () => check(SYSTEM))
      },
    },
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}

/** Removes control characters from foreign text, which a terminal or page might obey, and limits its length. */
const plainText = (text: string): string => text.slice(0, NOTES_CHARS).replaceAll(/[^\P{Cc}\n]|\p{Cf}/gu, " ")
