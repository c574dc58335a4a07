import { type Actor, userBehind } from "../domain/audit.ts"
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import {
  dismissNotice,
  endNotice,
  lastToldAt,
  listAdminAddresses,
  listAdminOrganizations,
  listNotices,
  markNoticeTold,
  type Notice,
  raiseNotice,
} from "../store/catalog/notices.ts"
import type { Audit } from "./audit.ts"
import type { PostedMail } from "./mail.ts"
import type { Outbox } from "./outbox.ts"

/** What can go wrong while nobody looks. */
export type AlarmKind = "backup_failed" | "backup_stale" | "backup_damaged" | "storage_low" | "update_available"

/** What of it instance admins are told, and by which product event areas hear of it. */
interface Sort {
  title: string
  /** What to do. */
  remedy: string
  isMailed: boolean
  event?: string
}

const SORTS: Readonly<Record<AlarmKind, Sort>> = {
  backup_failed: {
    title: "A backup has failed",
    remedy: "The cause is in the log. Put it right, then make one: footfall backup create, or the page Backups.",
    isMailed: true,
    event: "backup.failed",
  },
  backup_stale: {
    title: "There is no good backup of the last two days",
    remedy: "Make one: footfall backup create, or the page Backups. The log says why none was made by itself.",
    isMailed: true,
  },
  backup_damaged: {
    title: "A backup is damaged",
    remedy: "Look at the disk, make a new backup, and delete the damaged one.",
    isMailed: true,
  },
  storage_low: {
    title: "The disk is nearly full",
    remedy: "Make room, or move the data folder. When it is full, events are refused.",
    isMailed: true,
  },
  update_available: { title: "There is a newer version", remedy: "Read its notes, make a backup, then install it.", isMailed: false },
}

/** A notice as the console shows one. */
export interface ShownNotice extends Pick<Notice, "id" | "detail" | "first_at" | "last_at"> {
  kind: AlarmKind
  title: string
  remedy: string
}

/**
 * Tells instance admins what goes wrong: as a notice in the console until it is over or somebody has seen it, by mail, and by a
 * product event to the organizations that they belong to; the latter two once a day for each kind.
 */
export interface Alarms {
  raise(kind: AlarmKind, detail: Readonly<Record<string, string | number | null>>): Promise<void>
  /** It is over; may be said again and again. */
  end(kind: AlarmKind): Promise<void>
  list(): Promise<ShownNotice[]>
  /** Throws `not_found`. */
  dismiss(actor: Actor, id: string | undefined): Promise<void>
}

interface AlarmsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  mail: Pick<PostedMail, "isOn" | "post" | "wake">
  outbox: Pick<Outbox, "write">
  audit: Pick<Audit, "write">
  publicUrl(): string
}

const DAY_MS = 86_400_000

export function createAlarms({ catalog, clock, mail, outbox, audit, publicUrl }: AlarmsOptions): Alarms {
  /** Kinds without an open notice, as far as this process knows: whoever says so every minute costs nothing. */
  const quiet = new Set<AlarmKind>()
  return {
    async raise(kind, detail) {
      const now = clock.now()
      quiet.delete(kind)
      await catalog.transaction(async (statements) => {
        const toldAt = await lastToldAt(statements, kind)
        const notice = await raiseNotice(statements, { kind, detail, now })
        if (toldAt !== undefined && now - toldAt < DAY_MS) return
        await markNoticeTold(statements, notice.id, now)
        const { event, isMailed } = SORTS[kind]
        if (event !== undefined)
          for (const { id } of await listAdminOrganizations(statements))
            await outbox.write(statements, { event, organizationId: id, payload: detail })
        if (isMailed)
          for (const { email } of await listAdminAddresses(statements)) await mail.post(statements, letterOf(email, kind, detail))
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
      return notices.filter(({ kind }) => Object.hasOwn(SORTS, kind)).map((notice) => shownNotice(notice, notice.kind as AlarmKind)) // just looked at
    },
    dismiss: (actor, id) =>
      catalog.transaction(async (statements) => {
        const by = userBehind(actor)
        const notice = await dismissNotice(statements, parseId(id) ?? 0, { by, at: clock.now() })
        if (!notice) throw new AppError("not_found", "There is no open notice of this id.")
        await audit.write(statements, actor, {
          action: "admin.notice.dismiss",
          target: { type: "notice", id: notice.id, label: notice.kind },
        })
      }),
  }

  function letterOf(to: string, kind: AlarmKind, detail: object) {
    const { title, remedy } = SORTS[kind]
    const lines = Object.entries(detail).map(([name, value]) => `${name}: ${value}`)
    return { to, subject: title, text: [lines.join("\n"), remedy, `${publicUrl()}/admin`].filter((block) => block !== "").join("\n\n") }
  }
}

const shownNotice = ({ id, detail, first_at, last_at }: Notice, kind: AlarmKind): ShownNotice => {
  const { title, remedy } = SORTS[kind]
  return { id, kind, title, remedy, detail, first_at, last_at }
}
