import { expect, test } from "bun:test"
import { sql } from "../../../src/store/sql.ts"
import { openNodes } from "../nodes-kit.ts"

const answer = (body: string) => ({ status: 201, headers: {}, body })
const BODY = new TextEncoder().encode("{}")

test("of two nodes that get a request with the same key, one changes something", async () => {
  await using nodes = await openNodes()
  const [one, two] = [await nodes.node("one"), await nodes.node("two")]
  const claims = await Promise.all(
    [one, two].map(async ({ idempotency }) => {
      const begun = await idempotency.begin("POST /sites", "key", BODY)
      if ("kept" in begun) throw new Error("Nothing was stored yet")
      return begun.claim
    }),
  )
  const create = ({ catalog }: typeof one, name: string, at: number) =>
    catalog.transaction(async (statements) => {
      await statements.run(sql`insert into organizations (name, created_at, updated_at) values (${name}, 0, 0)`)
      await claims[at]!.keep(statements, answer(name))
    })
  await create(one, "first", 0)
  await expect(create(two, "second", 1)).rejects.toMatchObject({ code: "idempotency_in_progress" })
  for (const claim of claims) claim.release()
  expect(await one.catalog.all(sql`select name from organizations`)).toEqual([{ name: "first" }])
  expect(await two.idempotency.begin("POST /sites", "key", BODY)).toMatchObject({ kept: { status: 201, body: "first" } })
  // A day later the key can be used for another request.
  nodes.clock.advance(25 * 3_600_000)
  const later = await two.idempotency.begin("POST /sites", "key", BODY)
  if ("kept" in later) throw new Error("The answer has expired")
  await later.claim.keepAlone(answer("later"))
  later.claim.release()
  expect(await one.idempotency.begin("POST /sites", "key", BODY)).toMatchObject({ kept: { body: "later" } })
})
