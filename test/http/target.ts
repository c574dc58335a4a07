import { expect } from "bun:test"
import { composeKey, KEY_RANDOM_BYTES } from "../../src/domain/key-token.ts"
import { LISTENING } from "../../src/http/server.ts"
import { BROWSER, startInstance, type TestInstance } from "../kit.ts"

export type Target = Awaited<ReturnType<typeof openTarget>>

/**
 * Starts the real application behind a real socket, with a second site and keys of every kind that the HTTP tests use.
 * Closing it fails if the server met an unexpected error that another status hides.
 */
export async function openTarget(settings: Record<string, string> = {}) {
  const instance = await startInstance({ settings: { trusted_proxies: "127.0.0.0/8", limit_visitor_events: "0", ...settings } })
  const { app, site, clock, makeKey } = instance
  const second = await app.instance.sites.create(site.organization_id, { name: "Other", hosts: ["other.example"] })
  const keys = {
    stats: instance.statsKey,
    events: instance.eventsKey,
    all: instance.key,
    elsewhere: await makeKey(["stats:read", "events:write"], [second.id]),
    limited: await makeKey(["sites:write"], [second.id]),
    nowhere: await makeKey(["stats:read"], []),
    revoked: await revokedKey(instance),
  }
  const listening = Bun.serve({ ...LISTENING, port: 0, hostname: "127.0.0.1", fetch: (request, server) => app.fetch(request, server) })
  const url = `http://127.0.0.1:${listening.port}`

  async function close(): Promise<void> {
    await listening.stop(true)
    await instance[Symbol.asyncDispose]()
    expect(instance.log.lines.filter(({ level }) => level === "error")).toEqual([])
  }

  return {
    url,
    port: listening.port!,
    keys,
    signIn: instance.signIn,
    /** A well-formed key that was never issued. */
    unknownKey: composeKey(crypto.getRandomValues(new Uint8Array(KEY_RANDOM_BYTES))).token,
    clock,
    health: app.instance.health,
    browser: { "content-type": "text/plain", "user-agent": BROWSER },
    /** Pageviews of the first site today, as the API reports them. */
    async pageviews(): Promise<number> {
      // Uses a separate key, so that it takes no tokens from the limits of the others.
      const key = await makeKey(["stats:read"])
      const headers = { authorization: `Bearer ${key}` }
      const answer = await fetch(`${url}/api/public/v1/sites/1/stats/summary?period=all&metrics=pageviews`, { headers })
      const { metrics } = (await answer.json()) as { metrics: { pageviews: number } }
      return metrics.pageviews
    },
    stopCollecting: () => app.collector.stop(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function revokedKey({ app, site, makeKey }: TestInstance): Promise<string> {
  const secret = await makeKey(["stats:read"])
  const key = (await app.instance.keys.list(site.organization_id)).at(-1)!
  await app.instance.keys.revoke(site.organization_id, key.id)
  return secret
}

export const eventOf = (path: string) => ({ name: "pageview", url: `https://shop.example${path}` })
