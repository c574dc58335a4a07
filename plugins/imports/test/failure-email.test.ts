import { expect, test } from "bun:test"
import { openMailbox } from "#plugin/test"
import { file, simpleAnalytics, startImports } from "./kit.ts"

test("a failed import is told by email to the person who started it, without the content of the file", async () => {
  await using box = await openMailbox()
  await using stage = await startImports({ settings: box.settings })
  const rows = ["2026-10-01T10:00:00Z", "secret one", "secret two"].map((at, session) => ({ at, path: "/", session: String(session) }))
  const failed = await stage.run({ ...file(simpleAnalytics(rows)), label: "Old site" })
  expect(failed).toMatchObject({ state: "failed", error: { code: "too_many_rejects" } })
  const { instance } = stage
  await instance.app.instance.accounts.mail.deliver()
  const me = (await instance.api.get("/api/private/me", undefined, stage.headers)).body as { user: { email: string } }
  expect(box.emails.map(({ to }) => to)).toEqual([me.user.email])
  const [{ text } = { text: "" }] = box.emails
  for (const part of [
    "Subject: Import into Shop failed",
    'The import "Old site" into Shop failed: 2 of 3 lines were rejected.',
    "/sites/1/imports",
  ])
    expect(text).toContain(part)
  expect(text).not.toContain("secret")
  // A completed import needs no email.
  await stage.run(file(simpleAnalytics([{ at: "2026-10-01T10:00:00Z", path: "/", session: "a" }])))
  await instance.app.instance.accounts.mail.deliver()
  expect(box.emails).toHaveLength(1)
})
