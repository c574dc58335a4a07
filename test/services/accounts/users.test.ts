import { expect, test } from "bun:test"
import { passwordHashOf } from "../../../src/store/catalog/users.ts"
import { sql } from "../../../src/store/sql.ts"
import { faultsOf } from "../faults.ts"
import { openServices } from "../instance.ts"

const first = { email: "Ada@Example.org", name: "Ada", password: "correct horse battery", organization: "Acme" }

test("the first user owns the first organization and administers the instance", async () => {
  await using services = await openServices()
  const { users, organizations, catalog } = services
  expect(await users.isSetUp()).toBe(false)
  const at = Date.parse("2026-11-21T12:00:00Z")
  expect(await users.setUp(first)).toMatchObject({
    user: { id: 1, email: "Ada@Example.org", name: "Ada", is_instance_admin: true, status: "active", created_at: at },
    organization: { id: 1, name: "Acme", created_at: at, updated_at: at },
  })
  expect(await users.isSetUp()).toBe(true)
  expect(await organizations.list()).toMatchObject([{ id: 1, name: "Acme" }])
  expect(await catalog.all(sql`select organization_id, user_id, role from memberships`)).toEqual([
    { organization_id: 1, user_id: 1, role: "owner" },
  ])
  expect(await users.byEmail(" ADA@example.ORG ")).toMatchObject({ id: 1 })
  expect(await passwordHashOf(catalog, 1)).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$")
})

test("exactly one of several concurrent set-ups succeeds, and none later", async () => {
  await using services = await openServices()
  const { users, catalog } = services
  const results = await Promise.allSettled(Array.from({ length: 6 }, (_, i) => users.setUp({ ...first, email: `a${i}@example.org` })))
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
  expect(results.filter((result) => result.status === "rejected").map(({ reason }) => reason.code)).toEqual(Array(5).fill("already_set_up"))
  expect(await users.list()).toHaveLength(1)
  await catalog.script("delete from memberships; delete from users")
  expect(await faultsOf(users.setUp(first))).toBe("already_set_up")
})

test.each<[string, unknown, string[]]>([
  ["nothing", {}, ["/email required", "/name required", "/organization required", "/password required"]],
  ["a missing body", null, [" invalid_type"]],
  ["an invalid email address", { ...first, email: "ada" }, ["/email invalid_email"]],
  ["two email addresses", { ...first, email: "a@example.org, b@example.org" }, ["/email invalid_email"]],
  ["a password of 11 characters", { ...first, password: "x".repeat(11) }, ["/password too_short"]],
  ["a password of 257 characters", { ...first, password: "x".repeat(257) }, ["/password too_long"]],
  ["a password that is a number", { ...first, password: 123456789012 }, ["/password invalid_type"]],
  ["the email address as the password", { ...first, password: "ada@EXAMPLE.org" }, ["/password password_too_common"]],
  ["a lone surrogate in the password", { ...first, password: `correct horse \ud800` }, ["/password invalid_characters"]],
  ["an organization without a name", { ...first, organization: " " }, ["/organization too_short"]],
  ["an unknown field", { ...first, is_instance_admin: true }, ["/is_instance_admin unknown_field"]],
])("rejects a first user with %s", async (_, body, faults) => {
  await using services = await openServices()
  expect(await faultsOf(services.users.setUp(body))).toEqual(faults)
  expect(await services.users.isSetUp()).toBe(false)
})

test("normalizes a password to one Unicode form and otherwise takes it as typed", async () => {
  await using services = await openServices()
  const { users, catalog } = services
  await users.setUp({ ...first, password: "\tCafe\u0301 au lait  " })
  expect(await Bun.password.verify("\tCaf\u00e9 au lait  ", (await passwordHashOf(catalog, 1))!)).toBe(true)
  await users.setPassword("ada@example.org", "another long one")
  expect(await Bun.password.verify("another long one", (await passwordHashOf(catalog, 1))!)).toBe(true)
  expect(await faultsOf(users.setPassword("ada@example.org", "short"))).toEqual(["/password too_short"])
  expect(await faultsOf(users.setPassword("nobody@example.org", "another long one"))).toBe("not_found")
})
