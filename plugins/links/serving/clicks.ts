import type { Asked, ListedSender, PluginRecord, SenderFacts } from "#plugin"

/** Why a request is not taken for a person's. */
export type BotReason = "head" | "prefetch" | "no_ua" | "ua" | "datacenter" | "burst"

/** Says why a request that came at a moment, in epoch ms, is no person's; undefined when it is one. */
type BotCheck = (asked: Asked, sender: SenderFacts, at: number) => BotReason | undefined

const BURST = { requests: 5, ms: 2_000 } as const
/** Senders remembered at once in each half: more of them in so short a time are no burst of one. */
const REMEMBERED = 25_000

/**
 * Tells people from programs. Remembers for a few seconds who came, and nothing else. `isDatacenter` tells whether a request came
 * from a data centre; undefined: nobody knows.
 */
export function createBotCheck(isDatacenter: ListedSender | undefined): BotCheck {
  // Two halves instead of an order of use: who came before the older one was begun is of no interest any more.
  let young = new Map<number, number[]>()
  let old = new Map<number, number[]>()
  let turnedAt = 0

  function isBurst(sender: number, at: number): boolean {
    if (Math.abs(at - turnedAt) >= BURST.ms || young.size >= REMEMBERED) {
      old = young
      young = new Map()
      turnedAt = at
    }
    let times = young.get(sender)
    if (!times) {
      times = old.get(sender) ?? []
      young.set(sender, times)
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

/** A click as it is recorded. */
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
