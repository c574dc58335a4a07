import { afterAll } from "bun:test"
import { google, searchConsole } from "#plugin/test"
import { HOSTILE, pluginScreens } from "#plugin/test/browser"
import integrations from "../integrations.ts"

const SITE = "/api/private/sites/1"
/** Receives the test messages. */
const target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") })
const fake = await google({ now: () => Date.parse("2026-11-21T12:00:00Z") })
const console_ = searchConsole(fake)
afterAll(async () => {
  await target.stop(true)
  await fake[Symbol.asyncDispose]()
})

pluginScreens({
  plugin: integrations,
  settings: { allow_http_webhooks: "true", allow_private_webhooks: "127.0.0.0/8", outbound_ports: `443,${target.port}`, ...fake.settings },
  paths: [
    "/sites/1/integrations",
    "/sites/1/integrations/webhooks",
    "/sites/1/integrations/webhooks/1",
    "/sites/1/integrations/connections/1",
    "/sites/1/integrations/alerts",
    "/sites/1/search-queries?period=28d",
    "/sites/1/search-queries?period=28d&cards=group:page",
  ],
  /** Connects chats and creates webhooks and alerts whose names are attacks, and fetches searches for attacks. */
  async fill({ api, runJobs }, cookie) {
    const send = (method: string, path: string, body: object) => api.send(method, SITE + path, body, undefined, { cookie })
    for (const [index, text] of HOSTILE.entries()) {
      const url = `http://127.0.0.1:${target.port}/a-long-secret-path-${index}`
      const { body } = await send("POST", "/integrations/slack/connect", { url, name: text })
      await send("POST", "/webhooks", { url, events: ["*"], description: text })
      const { id } = body as { id?: number }
      if (id) await send("POST", "/alerts", { type: "spike", channels: [{ type: "connection", integration_id: id }] })
    }
    const searches = HOSTILE.map((text, index) => ({ query: text, page: text, clicks: 9 - index, impressions: 10, position: 1 }))
    console_.records = searches.map((search) => ({ day: "2026-11-18", ...search }))
    await send("POST", "/integrations/search-console/connect", { service_account: fake.serviceAccount() })
    const { data } = (await api.send("GET", `${SITE}/integrations/search-console/properties`, undefined, undefined, { cookie })).body as {
      data: { integration_id: number }[]
    }
    await send("PUT", "/integrations/search-console/mapping", {
      integration_id: data[0]!.integration_id,
      property: "sc-domain:shop.example",
    })
    for (let run = 0; run < 3; run++) await runJobs()
  },
})
