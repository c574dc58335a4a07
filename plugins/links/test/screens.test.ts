import { expect } from "bun:test"
import { BROWSER } from "#plugin/test"
import { HOSTILE, pluginScreens } from "#plugin/test/browser"
import links from "../links.ts"
import { PATH } from "./kit.ts"

pluginScreens({
  plugin: links,
  paths: ["/sites/1/links", "/sites/1/links/1?period=7d"],
  /** Creates links and visits whose texts are attacks. */
  async fill({ api, app, fetch }, cookie) {
    for (const [index, text] of HOSTILE.entries()) {
      const attack = encodeURIComponent(text)
      const destination = `https://example.com/${attack}?utm_campaign=${attack}`
      const link = { slug: `link-${index}`, destination, title: text, notes: text, tags: [text.slice(0, 40)] }
      expect(await api.post(PATH, link, undefined, { cookie })).toMatchObject({ status: 201 })
      const headers = { host: "localhost", "user-agent": BROWSER, referer: `https://evil.example/${attack}` }
      const click = new Request(`http://localhost/l/link-0?utm_source=${attack}`, { headers })
      expect((await fetch(click, `203.0.113.${index}`)).status).toBe(302)
    }
    await app.collector.recorded()
  },
})
