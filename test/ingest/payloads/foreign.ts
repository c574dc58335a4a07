import type { CollectAnswer } from "../../../src/ingest/collect/collect.ts"
import type { Outcome } from "../../../src/ingest/draft.ts"
import { goatcounterCount } from "../../../src/ingest/payloads/goatcounter.ts"
import { umamiBatch, umamiSend } from "../../../src/ingest/payloads/umami.ts"
import { BROWSER, type Intake } from "../intake.ts"

export const WEBSITE = "0f8fad5b-d9cb-469f-a165-70867728950e"
/** The test site with its ids in other products. */
export const KNOWN = { settings: { compat_ids: { plausible: [], umami: [WEBSITE], goatcounter: ["shop"] } } }

interface DumpedEvent {
  name: string
  page: string
  hostname: string
  title: string
  props: [key: string, value: string][]
  revenue: string[]
  vitals: (number | undefined)[][]
}

/** Events of the site's first visit, with their properties as short strings. */
export const eventsOf = (intake: Intake) =>
  ((intake.visits()[0]?.rows ?? []) as DumpedEvent[]).map(({ name, page, hostname, title, props, revenue, vitals }) => ({
    name,
    page,
    hostname,
    title,
    props: props.map((pair) => pair.join("=")),
    revenue: revenue[0],
    vitals: vitals[0],
  }))

type Taken = readonly Outcome[] | CollectAnswer
/** Rejections of a request's events, as `pointer code`. */
export const faultsOf = (taken: Taken): string[] =>
  "status" in taken ? [] : taken.flatMap(({ faults = [] }) => faults.map(({ pointer, code }) => `${pointer} ${code}`))

interface Sent {
  headers?: Record<string, string>
  peer?: string
  host?: string
}

const request = (method: string, url: string, body: unknown, { headers = {}, peer = "9.9.9.9" }: Sent) => ({
  method,
  url,
  headers: new Headers({ "user-agent": BROWSER, ...headers }),
  body: body instanceof Uint8Array ? body : new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)),
  peer,
})

/** Sends a body the way Umami's clients do; an array is sent to the batch endpoint. */
export const sendUmami = ({ collector }: Intake, body: unknown, sent: Sent = {}): Promise<Taken> =>
  collector.collectForeign(request("POST", "http://stats.example/api/send", body, sent), Array.isArray(body) ? umamiBatch : umamiSend)

/** A pageview as Umami's script sends it, with overridden fields. */
export const umamiView = (payload: object = {}, type = "event") => ({
  type,
  payload: {
    website: WEBSITE,
    hostname: "example.com",
    url: "/",
    screen: "1920x1080",
    language: "en-US",
    title: "Home",
    referrer: "",
    ...payload,
  },
})

/** Sends a count request the way GoatCounter's script does. */
export const sendCount = ({ collector }: Intake, fields: Record<string, string>, sent: Sent = {}): Promise<Taken> =>
  collector.collectForeign(
    request("GET", `http://${sent.host ?? "stats.example"}/count?${new URLSearchParams(fields)}`, new Uint8Array(), {
      ...sent,
      headers: { referer: "https://example.com/", ...sent.headers },
    }),
    goatcounterCount,
  )
