import { afterAll } from "bun:test"
import { HOSTILE, pluginScreens } from "#plugin/test/browser"
import integrations from "../integrations.ts"

/** Receives the test messages. */
const target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") })
const SITE = "/api/private/sites/1"
afterAll(() => target.stop(true))

pluginScreens({
  plugin: integrations,
  settings: { allow_http_webhooks: "true", allow_private_webhooks: "127.0.0.0/8", outbound_ports: `443,${target.port}` },
  paths: [
    "/sites/1/integrations",
    "/sites/1/integrations/webhooks",
    "/sites/1/integrations/webhooks/1",
    "/sites/1/integrations/connections/1",
  ],
  /** Connects chats and creates webhooks whose names are attacks. */
  async fill({ api }, cookie) {
    for (const [index, text] of HOSTILE.entries()) {
      const url = `http://127.0.0.1:${target.port}/a-long-secret-path-${index}`
      await api.send("POST", `${SITE}/integrations/slack/connect`, { url, name: text }, undefined, { cookie })
      await api.send("POST", `${SITE}/webhooks`, { url, events: ["*"], description: text }, undefined, { cookie })
    }
  },
})
