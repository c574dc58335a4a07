import { type Static, Type as t } from "@sinclair/typebox"
import { fault, inspect, parseInstant, refuseFaults, type Site } from "#plugin"
import type { Link, LinksHost } from "../link.ts"
import type { LinkFormat, TrialResponse } from "../responses.ts"
import type { Cache, CachedLink } from "../serving/cache.ts"
import type { Chains } from "../serving/chain.ts"
import { createBotCheck } from "../serving/clicks.ts"
import { decide, targetOf } from "../serving/decision.ts"

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
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
/** Status of the responses that do not redirect. */
const STATUS = { password: 200, expired: 410, loop: 410, not_started: 404, archived: 404, unknown: 404 } as const

/** Returns what a visitor would get now or at another time, without counting a click. */
export function tryLink(
  host: LinksHost,
  format: LinkFormat,
  parts: { cache: Cache; chains: Chains },
  { site, link, body }: { site: Site; link: Link; body: unknown },
): TrialResponse {
  const given = readTrial(body)
  const headers = { "user-agent": given.ua ?? BROWSER, ...(given.language !== undefined && { "accept-language": given.language }) }
  const request = new Request(format.shortUrl(link), { headers })
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
  const cached: CachedLink = parts.cache.byId(link.id) ?? { link, pending: { human: 0 }, targets: [] }
  const decision = decide(cached, wanted, parts)
  const reason = createBotCheck(undefined)({ request, server: null }, sender, wanted.at)
  const bot = { ...(reason && { bot_reason: reason }) }
  if (decision.outcome === "redirect") return { ...decision, ...bot }
  if (decision.outcome === "expired") return { outcome: "expired", status: decision.url === null ? 410 : 302, url: decision.url, ...bot }
  // Users who can see the link may also see its destination behind the password.
  const protectedTarget = decision.outcome === "password" ? targetOf(link, wanted) : { url: null }
  return { outcome: decision.outcome, status: STATUS[decision.outcome], ...protectedTarget, ...bot }
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
