import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { instantText } from "../domain/moment.ts"
import type { Site, SiteDirectory } from "../domain/site.ts"
import { visibleText } from "../domain/text.ts"
import type { Candidate } from "../ingest/candidate.ts"
import type { DropNote } from "../ingest/drop-tally.ts"
import type { IngestWatch } from "../ingest/watch.ts"
import type { Engine } from "../query/engine.ts"
import { askerOf } from "./open-report.ts"

/** What somebody who looks at a site is told while it happens. */
export type LiveEvent =
  | { event: "script_seen"; data: { at: string } }
  | { event: "event"; data: MaskedEvent }
  | { event: "host_refused"; data: { at: string; hostname: string } }
  | { event: "current_visitors"; data: { at: string; visitors: number } }

/** An event without anything that tells one visitor from another. */
export interface MaskedEvent {
  at: string
  name: string
  page: string
  hostname: string
  source: string
  country: string
  device: string
  browser: string
}

/**
 * What comes in for a site while somebody looks: events once they are on disk, hosts that are refused, pages that load the
 * script, and how many visitors there are. Nothing of it is kept but when a script was last seen.
 */
export interface Live {
  /**
   * Tells until the signal is aborted; first what is known already. Throws `rate_limited` for somebody who looks through too
   * many windows.
   */
  watch(site: Site, userId: number, tell: (event: LiveEvent) => void, signal: AbortSignal): void
  /** For ingestion. */
  readonly ingest: IngestWatch
  /** A page has asked for the script; what it says is its address. */
  scriptSeen(referer: string): void
}

interface LiveOptions {
  directory: SiteDirectory
  engine: Pick<Engine, "pulse">
  clock: Pick<Clock, "now">
}

interface Watcher {
  userId: number
  tell(event: LiveEvent): void
}

const WINDOWS = 5
const COUNT_MS = 5_000
/** A script that was seen longer ago tells nothing about now. */
const SEEN_MS = 3_600_000
const SHOWN_CHARS = 500

export function createLive({ directory, engine, clock }: LiveOptions): Live {
  const watchers = new Map<number, Set<Watcher>>()
  /** When a site's pages last asked for the script. One number a site. */
  const seen = new Map<number, number>()
  const tellAll = (siteId: number, event: LiveEvent): void => {
    for (const watcher of watchers.get(siteId) ?? []) watcher.tell(event)
  }
  const windowsOf = (userId: number): number =>
    [...watchers.values()].flatMap((all) => [...all]).filter((each) => each.userId === userId).length

  return {
    watch(site, userId, tell, signal) {
      if (windowsOf(userId) >= WINDOWS) throw new AppError("rate_limited", `${WINDOWS} windows look at sites already.`, { retry_after: 5 })
      const watcher = { userId, tell }
      watchers.set(site.id, (watchers.get(site.id) ?? new Set()).add(watcher))
      const lastSeen = seen.get(site.id)
      if (lastSeen !== undefined && clock.now() - lastSeen < SEEN_MS) tell(scriptSeenAt(lastSeen))
      const stopCounting = countVisitors(site, tell, signal)
      const leave = () => {
        stopCounting()
        const left = watchers.get(site.id)
        left?.delete(watcher)
        if (left?.size === 0) watchers.delete(site.id)
      }
      if (signal.aborted) leave()
      else signal.addEventListener("abort", leave, { once: true })
    },
    ingest: {
      isWatched: (siteId) => watchers.size > 0 && watchers.has(siteId),
      stored: (candidate) => tellAll(candidate.siteId, { event: "event", data: masked(candidate) }),
      dropped({ siteId, reason, entry, sample }: DropNote) {
        if (reason !== "host") return
        const hostname = shown(entry ?? sample?.hostname ?? "")
        tellAll(siteId, { event: "host_refused", data: { at: instantText(clock.now()), hostname } })
      },
    },
    scriptSeen(referer) {
      const host = URL.parse(referer)?.hostname
      const site = host === undefined ? undefined : directory.byHost(host)
      if (!site) return
      seen.set(site.id, clock.now())
      tellAll(site.id, scriptSeenAt(clock.now()))
    },
  }

  /** At once, and then whenever the number is another one. */
  function countVisitors(site: Site, tell: Watcher["tell"], signal: AbortSignal): () => void {
    let last: number | undefined
    const count = async () => {
      const { visitors } = await engine.pulse({ site: { id: site.id }, now: clock.now() }, askerOf(site, { signal }))
      if (visitors === last || signal.aborted) return
      last = visitors
      tell({ event: "current_visitors", data: { at: instantText(clock.now()), visitors } })
    }
    // One that fails is followed by the next.
    const look = () => void count().catch(() => {})
    look()
    const timer = setInterval(look, COUNT_MS)
    return () => clearInterval(timer)
  }
}

const scriptSeenAt = (at: number): LiveEvent => ({ event: "script_seen", data: { at: instantText(at) } })

const masked = ({ event, traits }: Candidate): MaskedEvent => ({
  at: instantText(event.at),
  name: shown(event.name),
  page: shown(event.page),
  hostname: shown(event.hostname),
  source: shown(traits.source),
  country: traits.country,
  device: traits.device,
  browser: traits.browser,
})

const shown = (text: string): string => visibleText(text).slice(0, SHOWN_CHARS)
