import type { Asked, ListedSender, PluginRecord, SenderFacts } from "#plugin"

/** Reason why a click counts as a bot click. */
export type BotReason = "head" | "prefetch" | "no_ua" | "ua" | "datacenter" | "burst"

/** Returns why a request at a moment in epoch ms counts as a bot click; undefined if it is a click by a person. */
type BotCheck = (asked: Asked, sender: SenderFacts, at: number) => BotReason | undefined

const BURST = { requests: 5, ms: 2_000 } as const
/** Maximum number of senders in each of the two maps. More senders in so short a time are not a burst by one of them. */
const MAX_SENDERS = 25_000

/**
 * Creates the check that distinguishes people from bots. It remembers senders for a few seconds and nothing else. `isDatacenter` returns
 * whether a request comes from a data centre; undefined if no list of data centres is configured.
 */
export function createBotCheck(isDatacenter: ListedSender | undefined): BotCheck {
  // Two maps that take turns instead of a queue: senders in the older one are forgotten all at once.
  let recent = new Map<number, number[]>()
  let older = new Map<number, number[]>()
  let swappedAt = 0

  function isBurst(sender: number, at: number): boolean {
    if (Math.abs(at - swappedAt) >= BURST.ms || recent.size >= MAX_SENDERS) {
      older = recent
      recent = new Map()
      swappedAt = at
    }
    let times = recent.get(sender)
    if (!times) {
      times = older.get(sender) ?? []
      recent.set(sender, times)
    }
    while (times.length > 0 && (times[0]! <= at - BURST.ms || times.length >= BURST.requests)) times.shift()
    times.push(at)
    return times.length >= BURST.requests
  }
  return (asked, { isBot, isPrefetch, hasAgent, sameness }, at) => {
    const isMany = isBurst(sameness, at)
    if (asked.request.method === "HEAD") return "head"
    if (isPrefetch) return "prefetch"
    if (!hasAgent) return "no_ua"
    if (isBot) return "ua"
    if (isDatacenter?.(asked)) return "datacenter"
    return isMany ? "burst" : undefined
  }
}

/** Returns the record of a click. */
export const clickOf = (click: {
  linkId: number
  reason: BotReason | undefined
  isQr: boolean
  rule: number
  method: string
  status: number
}): PluginRecord => ({
  name: "link_click",
  props: {
    link_id: click.linkId,
    human: click.reason ? 0 : 1,
    bot_reason: click.reason,
    qr: click.isQr ? 1 : 0,
    rule: click.rule,
    method: click.method,
    status: click.status,
  },
})
