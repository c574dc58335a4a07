import { type Static, Type as t } from "@sinclair/typebox"
import { fault, inspect, parseInstant, refuseFaults } from "#plugin"
import type { Link, LinksHost, Site } from "../link.ts"
import type { Cache, Kept } from "../serving/cache.ts"
import type { Chains } from "../serving/chain.ts"
import { createBotCheck } from "../serving/clicks.ts"
import { decide, targetOf } from "../serving/decision.ts"
import type { Showing } from "../shown.ts"

const Text = t.Optional(t.String({ maxLength: 512 }))
export const TrialInput = t.Object(
  {
    ua: Text,
    country: Text,
    language: Text,
    at: Text,
    query: t.Optional(t.String({ maxLength: 2_000 })),
    path: t.Optional(t.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false, title: "LinkTrial" },
)
export const TrialShown = t.Object({
  outcome: t.String({ description: "`redirect`, `password`, `expired`, `not_started`, `archived`, `loop` or `unknown`." }),
  rule: t.Optional(t.Integer({ description: "Number of the rule that matched, starting at 1. 0 is the destination of the link." })),
  status: t.Integer(),
  url: t.Union([t.String(), t.Null()]),
  bot_reason: t.Optional(t.String()),
})

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
/** What is answered where nothing leads anywhere. */
const STATUS = { password: 200, expired: 410, loop: 410, not_started: 404, archived: 404, unknown: 404 } as const

/** What a visitor would get now, or at another time, without a click. */
export function tryLink(
  host: LinksHost,
  showing: Showing,
  world: { cache: Cache; chains: Chains },
  asked: { site: Site; link: Link; body: unknown },
) {
  const { site, link } = asked
  const given = readTrial(asked.body)
  const headers = { "user-agent": given.ua ?? BROWSER, ...(given.language !== undefined && { "accept-language": given.language }) }
  const request = new Request(showing.shortUrl(link), { headers })
  const sender = host.senderOf({ request, server: null })
  const wanted = {
    ...sender,
    ...(given.country !== undefined && { country: given.country }),
    at: given.at ?? host.now(),
    query: given.query,
    path: given.path,
    timezone: site.timezone,
    isUnlocked: false,
  }
  const kept: Kept = world.cache.byId(link.id) ?? { link, since: { human: 0 }, targets: [] }
  const decision = decide(kept, wanted, world)
  const reason = createBotCheck(undefined)({ request, server: null }, sender, wanted.at)
  const told = { ...(reason && { bot_reason: reason }) }
  if (decision.outcome === "redirect") return { ...decision, ...told }
  if (decision.outcome === "expired") return { outcome: "expired", status: decision.url === null ? 410 : 302, url: decision.url, ...told }
  // Whoever may see the link may see where it leads once it is unlocked.
  const behind = decision.outcome === "password" ? targetOf(link, wanted) : { url: null }
  return { outcome: decision.outcome, status: STATUS[decision.outcome], ...behind, ...told }
}

function readTrial(body: unknown) {
  const { fields, faults } = inspect(TrialInput, body)
  const { ua, country, language, at, query = "", path = "" } = fields as Static<typeof TrialInput>
  const moment = at === undefined ? undefined : parseInstant(at)
  if (at !== undefined && moment === undefined) faults.push(fault("/at", "invalid_date", "must be an instant with its offset"))
  for (const [name, text] of [
    ["ua", ua],
    ["language", language],
  ] as const)
    if (text !== undefined && !/^[\u0020-\u00ff]*$/.test(text))
      faults.push(fault(`/${name}`, "invalid_characters", "contains characters that a header can't have"))
  refuseFaults(faults)
  return { ua, country, language, at: moment, query: query.replace(/^\?/, ""), path }
}
