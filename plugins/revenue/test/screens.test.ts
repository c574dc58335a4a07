import { HOSTILE, pluginScreens } from "#plugin/test/browser"
import revenue from "../revenue.ts"
import { enter } from "./books.ts"

pluginScreens({
  plugin: revenue,
  paths: ["/sites/1/revenue?period=28d&cards=group:source", "/sites/1/revenue/transactions"],
  /** Writes transactions whose orders, sources, pages, items and notes are attacks. */
  async fill(instance, cookie) {
    const [first] = await enter(
      { instance },
      HOSTILE.map((text, index) => ({
        ...{ at: `2026-11-2${index % 2}T10:0${index % 10}:00Z`, amount: 1_000 + index, visitor: index },
        dims: { source: text, entry_page: `/${text}`, utm_campaign: text },
        touches: [{ source: text, channel: text, utm_campaign: text, entry_page: `/${text}` }],
        items: [{ sku: text, name: text, category: text, quantity: 1, total_minor: 500 }],
      })),
    )
    const { api } = instance
    // Texts with control characters are refused, which other tests look at.
    for (const [index, text] of HOSTILE.entries())
      await api.send(
        "POST",
        "/api/private/sites/1/revenue/transactions",
        { amount: "5.00", order_id: text, note: HOSTILE.at(index - 1), occurred_at: "2026-11-20T10:00:00Z" },
        undefined,
        { cookie },
      )
    return [`/sites/1/revenue/transactions/${first}`]
  },
})
