import { expect, test } from "bun:test"
import { stand } from "../kit.ts"

const NEW = { kind: "weekly", recipients: ["ann@example.org"] }

test("sends a weekly report on Monday with the figures of the week", async () => {
  await using at = await stand([], { now: "2026-11-18T09:00:00Z" })
  const { instance, ask, emails } = at
  await instance.collect({ n: "pageview", u: "https://shop.example/pricing", d: "shop.example" })
  const created = await ask("POST", "/reports", NEW)
  expect(created).toMatchObject({ status: 201, body: { kind: "weekly", hour: 7, next_at: "2026-11-23T06:00:00Z", can_manage: true } })
  await at.after(4 * 86_400_000 + 20 * 3_600_000)
  expect(emails).toHaveLength(0)
  await at.after(3_600_000)
  await instance.app.instance.accounts.mail.settled()
  expect(emails).toHaveLength(1)
})
