import { type Actor, actingUserId } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import {
  dismissNotice,
  endNotice,
  lastNotifiedAt,
  listAdminAddresses,
  listAdminOrganizations,
  listNotices,
  markNotified,
  type Notice,
  raiseNotice,
} from "../../store/catalog/outbox.ts"
import type { Audit } from "../audit/audit.ts"
import type { Outbox } from "../jobs/outbox.ts"
import type { MailQueue } from "./mail.ts"

/** The kinds of problems and news that instance admins are notified about. */
export type AlarmKind = "backup_failed" | "backup_stale" | "backup_damaged" | "storage_low" | "update_available"

/** The notice of an alarm, and the product event that plugins receive. */
interface AlarmText {
  title: string
  /** Instruction for the administrator. */
  remedy: string
  isMailed: boolean
  event?: string
}

const ALARM_TEXTS: Readonly<Record<AlarmKind, AlarmText>> = {
  backup_failed: {
    title: "Backup failed",
    remedy: "The log has the cause. Fix it, then create a backup with footfall backup create or on the Backups page.",
    isMailed: true,
    event: "backup.failed",
  },
  backup_stale: {
    title: "No good backup in the last two days",
    remedy: "Create one with footfall backup create or on the Backups page. The log says why the automatic backups failed.",
    isMailed: true,
  },
  backup_damaged: {
    title: "A backup is damaged",
    remedy: "Check the disk, create a new backup and delete the damaged one.",
    isMailed: true,
  },
  storage_low: {
    title: "The disk is nearly full",
    remedy: "Free up space or move the data folder. When the disk is full, Footfall rejects events.",
    isMailed: true,
  },
  update_available: {
    title: "A newer version is available",
    remedy: "Read the release notes, create a backup, then install it.",
    isMailed: false,
  },
}

/** A notice in the admin console. */
export interface ShownNotice extends Pick<Notice, "id" | "detail" | "first_at" | "last_at"> {
  kind: AlarmKind
  title: string
  remedy: string
}

/**
 * Alerts for instance admins. A notice stays in the admin console until the problem ends or an admin dismisses it. Emails, and product
 * events to the admins' organizations, are sent at most once a day for each kind.
 */
export interface Alarms {
  raise(kind: AlarmKind, detail: Readonly<Record<string, string | number | null>>): Promise<void>
  /** Clears an alarm. Idempotent. */
  end(kind: AlarmKind): Promise<void>
  list(): Promise<ShownNotice[]>
  /** Dismisses a notice. Throws `not_found`. */
  dismiss(actor: Actor, id: string | undefined): Promise<void>
}

interface AlarmsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  mail: Pick<MailQueue, "isOn" | "post" | "wake">
  outbox: Pick<Outbox, "write">
  audit: Pick<Audit, "write">
  publicUrl(): string
}

const DAY_MS = 86_400_000

export function createAlarms({ catalog, clock, mail, outbox, audit, publicUrl }: AlarmsOptions): Alarms {
  /** Kinds known to have no open notice, so that frequent calls of `end` need no statement. */
  const quiet = new Set<AlarmKind>()
  return {
    async raise(kind, detail) {
      const now = clock.now()
      quiet.delete(kind)
      await catalog.transaction(async (statements) => {
        const lastSentAt = await lastNotifiedAt(statements, kind)
        const notice = await raiseNotice(statements, { kind, detail, now })
        if (lastSentAt !== undefined && now - lastSentAt < DAY_MS) return
        await markNotified(statements, notice.id, now)
        const { event, isMailed } = ALARM_TEXTS[kind]
        if (event !== undefined)
          for (const { id } of await listAdminOrganizations(statements))
            await outbox.write(statements, { event, organizationId: id, payload: detail })
        if (isMailed)
          for (const { email } of await listAdminAddresses(statements)) await mail.post(statements, emailAbout(email, kind, detail))
      })
      mail.wake()
    },
    async end(kind) {
      if (quiet.has(kind)) return
      await endNotice(catalog, kind, clock.now())
      quiet.add(kind)
    },
    async list() {
      const notices = await listNotices(catalog)
      return notices.filter(({ kind }) => Object.hasOwn(ALARM_TEXTS, kind)).map((notice) => shownNotice(notice, notice.kind as AlarmKind)) // checked by the filter
    },
    dismiss: (actor, id) =>
      catalog.transaction(async (statements) => {
        const by = actingUserId(actor)
        const notice = await dismissNotice(statements, parseId(id) ?? 0, { by, at: clock.now() })
        if (!notice) throw new AppError("not_found", "There is no open notice with this id.")
        await audit.write(statements, actor, {
          action: "admin.notice.dismiss",
          target: { type: "notice", id: notice.id, label: notice.kind },
        })
      }),
  }

  function emailAbout(to: string, kind: AlarmKind, detail: object) {
    const { title, remedy } = ALARM_TEXTS[kind]
    const lines = Object.entries(detail).map(([name, value]) => `${name}: ${value}`)
    return { to, subject: title, text: [lines.join("\n"), remedy, `${publicUrl()}/admin`].filter((block) => block !== "").join("\n\n") }
  }
}

const shownNotice = ({ id, detail, first_at, last_at }: Notice, kind: AlarmKind): ShownNotice => {
  const { title, remedy } = ALARM_TEXTS[kind]
  return { id, kind, title, remedy, detail, first_at, last_at }
}
