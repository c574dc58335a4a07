import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { DropReason } from "../../domain/event.ts"
import { instantText } from "../../domain/moment.ts"
import { isDevelopmentHost, type Site, type SiteDirectory } from "../../domain/site.ts"
import { visibleText } from "../../domain/text.ts"
import type { DropNote, IngestWatch } from "../../ingest/commit/outcomes.ts"
import type { Candidate } from "../../ingest/draft.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { FollowOthers, OthersNews } from "./live-of-others.ts"
import { callerOf } from "./open-report.ts"

/** An event of the live stream of a site. */
export type LiveEvent =
  | { event: "script_seen"; data: { at: string; hostname: string } }
  | { event: "event"; data: MaskedEvent }
  | { event: "host_refused"; data: { at: string; hostname: string } }
  | { event: "event_dropped"; data: { at: string; hostname: string; reason: DropReason } }
  | { event: "current_visitors"; data: { at: string; visitors: number } }

/** An event without anything that distinguishes one visitor from another. */
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

/** A user who watches a site live. */
export interface Watcher {
  userId: number
  /** IP address of the user's browser. Pages opened from the same address on hosts of no site count as the user's own tests. */
  address: string | undefined
  tell(event: LiveEvent): void
}

/**
 * The live stream of a site: events once they are on disk, dropped events, pages that load the script, and the number of current
 * visitors. Only the time and host of the latest script request are stored.
 */
export interface Live {
  /**
   * Sends events until the signal is aborted, starting with what is already known. Throws `rate_limited` for a user with too
   * many open streams.
   */
  watch(site: Site, watcher: Watcher, signal: AbortSignal): void
  /** Interface that ingestion reports to. */
  readonly ingest: IngestWatch
  /** Records that a page requested the tracker script, given the `Referer` and the client's IP address. */
  scriptSeen(referer: string, address: string | undefined): void
}

interface LiveOptions {
  directory: SiteDirectory
  engine: Pick<Engine, "pulse">
  clock: Pick<Clock, "now">
  /** Follows what other nodes record. Undefined for an instance of one process. */
  followOthers: FollowOthers | undefined
}

const MAX_STREAMS = 5
const COUNT_MS = 5_000
/** Pause between two questions for what other nodes have recorded, while someone watches. */
const OTHERS_MS = 2_000
/** Age after which a script request no longer shows that the script is installed. */
const SCRIPT_SEEN_MS = 3_600_000
const MAX_TEXT_CHARS = 500

export function createLive({ directory, engine, clock, followOthers }: LiveOptions): Live {
  const watchers = new Map<number, Set<Watcher>>()
  /** Functions that end following other nodes, by site. */
  const following = new Map<number, () => void>()
  /** Latest script request by site. */
  const seen = new Map<number, ScriptSeen>()
  const sendAll = (siteId: number, event: LiveEvent): void => {
    for (const watcher of watchers.get(siteId) ?? []) watcher.tell(event)
  }
  function sendDropped(siteId: number, reason: DropReason, host: string) {
    const data = { at: instantText(clock.now()), hostname: shown(host) }
    if (reason === "host") sendAll(siteId, { event: "host_refused", data })
    else sendAll(siteId, { event: "event_dropped", data: { ...data, reason } })
    return data
  }
  const streamsOf = (userId: number): number =>
    [...watchers.values()].flatMap((all) => [...all]).filter((each) => each.userId === userId).length

  return {
    watch(site, watcher, signal) {
      const { userId, tell } = watcher
      if (streamsOf(userId) >= MAX_STREAMS)
        throw new AppError("rate_limited", `You can watch at most ${MAX_STREAMS} live streams at a time. Close another one.`, {
          retry_after: 5,
        })
      watchers.set(site.id, (watchers.get(site.id) ?? new Set()).add(watcher))
      if (followOthers && !following.has(site.id)) following.set(site.id, showOthers(site.id, followOthers(site.id)))
      const lastSeen = seen.get(site.id)
      if (lastSeen !== undefined && clock.now() - lastSeen.at < SCRIPT_SEEN_MS) tell(scriptSeenAt(lastSeen))
      const stopCounting = countVisitors(site, tell, signal)
      const leave = () => {
        stopCounting()
        const left = watchers.get(site.id)
        left?.delete(watcher)
        if (left?.size !== 0) return
        watchers.delete(site.id)
        following.get(site.id)?.()
        following.delete(site.id)
      }
      if (signal.aborted) leave()
      else signal.addEventListener("abort", leave, { once: true })
    },
    ingest: {
      isWatched: (siteId) => watchers.size > 0 && watchers.has(siteId),
      stored: (candidate) => sendAll(candidate.siteId, { event: "event", data: masked(candidate) }),
      dropped({ siteId, reason, entry, sample, hostname }: DropNote) {
        if (watchers.size === 0) return
        const host = hostname ?? (reason === "host" ? entry : undefined) ?? sample?.hostname ?? ""
        const data = sendDropped(siteId, reason, host)
        // The page belongs to a site, but its snippet names another site or none.
        const owner = reason === "host" || reason === "unknown_site" ? directory.byHost(host) : undefined
        if (owner && owner.id !== siteId) sendAll(owner.id, { event: "event_dropped", data: { ...data, reason: "unknown_site" } })
      },
    },
    scriptSeen(referer, address) {
      const hostname = URL.parse(referer)?.hostname
      if (!hostname) return
      const at = clock.now()
      const site = directory.byHost(hostname)
      if (site) seen.set(site.id, { at, hostname })
      for (const [siteId, watching] of watchers)
        for (const watcher of watching) {
          // A local host may belong to anyone, so only the user at the same address is notified.
          const isOwnTest = address !== undefined && watcher.address === address && (!site || isDevelopmentHost(hostname))
          if (siteId === site?.id || isOwnTest) watcher.tell(scriptSeenAt({ at, hostname }))
        }
    },
  }

  /** Sends what other nodes record. Returns the function that ends it. */
  function showOthers(siteId: number, news: () => Promise<OthersNews>): () => void {
    const look = async () => {
      const { events, dropped } = await news()
      for (const event of events) sendAll(siteId, { event: "event", data: maskedText(event) })
      for (const { reason, hostname } of dropped) sendDropped(siteId, reason, hostname)
    }
    // What could not be asked for is news for a minute, and the next question follows.
    return repeat(() => look().catch(() => {}), OTHERS_MS)
  }

  /** Sends the number of current visitors immediately and whenever it changes. */
  function countVisitors(site: Site, tell: Watcher["tell"], signal: AbortSignal): () => void {
    let last: number | undefined
    const count = async () => {
      const { visitors } = await engine.pulse({ site: { id: site.id }, now: clock.now() }, callerOf(site, { signal }))
      if (visitors === last || signal.aborted) return
      last = visitors
      tell({ event: "current_visitors", data: { at: instantText(clock.now()), visitors } })
    }
    // A failed count is repeated at the next interval.
    return repeat(() => count().catch(() => {}), COUNT_MS)
  }
}

/** Runs work now, and each time that some milliseconds have passed since the last time ended. Returns the function that ends it. */
function repeat(work: () => Promise<void>, ms: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  const run = async () => {
    await work()
    if (!isOver) timer = setTimeout(run, ms)
  }
  void run()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

interface ScriptSeen {
  at: number
  hostname: string
}

const scriptSeenAt = ({ at, hostname }: ScriptSeen): LiveEvent => ({
  event: "script_seen",
  data: { at: instantText(at), hostname: shown(hostname) },
})

const masked = ({ event, traits }: Candidate): MaskedEvent => maskedText({ ...traits, ...event })

const maskedText = ({
  at,
  name,
  page,
  hostname,
  source,
  country,
  device,
  browser,
}: Omit<MaskedEvent, "at"> & { at: number }): MaskedEvent => ({
  ...{ at: instantText(at), name: shown(name), page: shown(page), hostname: shown(hostname), source: shown(source) },
  ...{ country, device, browser },
})

const shown = (text: string): string => visibleText(text).slice(0, MAX_TEXT_CHARS)
