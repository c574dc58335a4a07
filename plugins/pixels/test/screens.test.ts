import { expect } from "bun:test"
import { BROWSER } from "#plugin/test"
import { HOSTILE, pluginScreens } from "#plugin/test/browser"
import pixels from "../pixels.ts"
import { PIXELS } from "./stage.ts"

pluginScreens({
  plugin: pixels,
  paths: ["/sites/1/pixels", "/sites/1/pixels/1?period=7d"],
  /** Creates pixels and opens whose texts are attacks. */
  async fill({ api, app, fetch }, cookie) {
    for (const [index, text] of HOSTILE.entries()) {
      const pixel = { name: text, kind: "email", slug: `pixel-${index}`, allowed_params: ["issue"] }
      expect(await api.post(PIXELS, pixel, undefined, { cookie })).toMatchObject({ status: 201 })
      const headers = { "user-agent": BROWSER, referer: `https://evil.example/${encodeURIComponent(text)}` }
      const open = new Request(`http://localhost/p/pixel-0.gif?issue=${encodeURIComponent(text)}`, { headers })
      expect((await fetch(open, `203.0.113.${index}`)).status).toBe(200)
    }
    await app.collector.recorded()
  },
})
