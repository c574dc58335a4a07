import { LISTENING } from "../../../src/http/server.ts"
import { BROWSER, startInstance } from "../../kit.ts"

export const WEBSITE = "0f8fad5b-d9cb-469f-a165-70867728950e"
const NIL = "00000000-0000-0000-0000-000000000000"
export const COUNTED = { cache: "footfall", sessionId: NIL, visitId: NIL }

/** Starts the real application behind a real socket. Its first site has ids of Umami and GoatCounter. */
export async function openCompat(settings: Record<string, string> = {}) {
  const instance = await startInstance({ settings: { limit_visitor_events: "0", ...settings } })
  const { app, api, statsKey } = instance
  await app.instance.sites.configure(1, { compat_ids: { umami: [WEBSITE], goatcounter: ["shop"] } })
  const listening = Bun.serve({ ...LISTENING, port: 0, hostname: "127.0.0.1", fetch: (request, server) => app.fetch(request, server) })
  const url = `http://127.0.0.1:${listening.port}`
  return {
    ...instance,
    url,
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(url + path, {
        method: "POST",
        headers: { "user-agent": BROWSER, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    count: (query: string, init: RequestInit = {}) =>
      fetch(`${url}/count?${query}`, { ...init, headers: { "user-agent": BROWSER, referer: "https://shop.example/", ...init.headers } }),
    /** Counts of the first site, as the API reports them. */
    async counted(): Promise<Record<string, number>> {
      const { body } = await api.get("/api/public/v1/sites/1/stats/summary?period=all&metrics=pageviews,events", statsKey)
      return (body as { metrics: Record<string, number> }).metrics
    },
    async [Symbol.asyncDispose]() {
      await listening.stop(true)
      await instance[Symbol.asyncDispose]()
    },
  }
}

export const view = (payload: object = {}, type = "event") => ({
  type,
  payload: { website: WEBSITE, hostname: "shop.example", url: "/", ...payload },
})
