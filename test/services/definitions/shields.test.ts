import { describe, expect, test } from "bun:test"
import { createExemptValues } from "../../../src/services/definitions/exempt-values.ts"
import { createSiteShields } from "../../../src/services/definitions/shields.ts"
import { temporaryFolder } from "../../kit.ts"
import { faultsOf } from "../faults.ts"
import { openServices } from "../instance.ts"

const condition = { dimension: "page", operator: "contains", values: ["/x"] }
const rule = { kind: "rule", conditions: [condition] }

async function withSite() {
  const services = await openServices()
  const { id } = await services.organizations.create({ name: "Acme" })
  await services.sites.create(id, { name: "Shop", hosts: ["shop.example"] })
  return { ...services, siteShields: createSiteShields(services.sites).of(1) }
}

describe("shields of the instance", () => {
  test("are added, changed and removed one at a time", async () => {
    await using services = await openServices()
    const { instanceShields: shields, clock } = services
    const now = clock.now()
    const first = await shields.add({ kind: "country", value: "de", note: " no buyers " })
    expect(first).toEqual({
      id: 1,
      kind: "country",
      value: "DE",
      note: "no buyers",
      enabled: true,
      created_at: now,
      updated_at: now,
      version: 1,
    })
    const before = shields.current()
    clock.advance(1_000)
    const changed = await shields.update(1, { enabled: false })
    expect(changed).toEqual({ ...first, enabled: false, updated_at: now + 1_000, version: 2 })
    expect(shields.current()).toEqual([changed])
    expect(before).toEqual([first])
    await shields.remove(1)
    expect(shields.current()).toEqual([])
    expect((await shields.add(rule)).id).toBe(2)
  })

  test("survive a restart unchanged", async () => {
    using folder = temporaryFolder()
    const added = await (async () => {
      await using services = await openServices({ folder: folder.path })
      await services.instanceShields.add({ kind: "ip", value: "203.0.113.0/24", enabled: false })
      await services.instanceShields.add({ ...rule, value: "scrapers", note: "x" })
      return services.instanceShields.current()
    })()
    await using services = await openServices({ folder: folder.path })
    expect(services.instanceShields.current()).toEqual(added)
    expect(added).toMatchObject([{ enabled: false }, { kind: "rule", value: "scrapers", conditions: [condition], note: "x" }])
  })

  test("reject a change based on an outdated version", async () => {
    await using services = await openServices()
    const { instanceShields: shields } = services
    await shields.add({ kind: "country", value: "DE" })
    expect(await faultsOf(shields.update(1, { enabled: false }, { expected: [7] }))).toBe("precondition_failed")
    expect(await faultsOf(shields.remove(1, { expected: [7] }))).toBe("precondition_failed")
    expect(await faultsOf(shields.remove(2))).toBe("shield_not_found")
    expect(await faultsOf(shields.update(2, {}))).toBe("shield_not_found")
    expect(shields.current()).toMatchObject([{ enabled: true, version: 1 }])
  })

  test("are limited to 100 per kind", async () => {
    await using services = await openServices()
    const { instanceShields: shields } = services
    for (let i = 0; i < 100; i++) await shields.add({ kind: "page", value: `/${i}` })
    expect(await faultsOf(shields.add({ kind: "page", value: "/100" }))).toEqual(["/kind too_many"])
    expect((await shields.add({ kind: "country", value: "DE" })).id).toBe(101)
    expect((await shields.update(1, { value: "/100" })).value).toBe("/100")
  })
})

const conditions = (...list: object[]) => ({ kind: "rule", conditions: list })
const REFUSED: [name: string, shield: object, faults: string[]][] = [
  ["without a kind", { value: "DE" }, ["/kind required"]],
  ["of an unknown kind", { kind: "city", value: "Bonn" }, ["/kind invalid_choice"]],
  ["without a value", { kind: "ip" }, ["/value required"]],
  ["with an invalid value", { kind: "ip", value: "10.0.0" }, ["/value invalid_choice"]],
  ["with conditions for another kind", { kind: "country", value: "DE", conditions: [condition] }, ["/conditions unsupported_combination"]],
  ["with a long note", { kind: "country", value: "DE", note: "n".repeat(501) }, ["/note too_long"]],
  ["with an unknown field", { kind: "country", value: "DE", colour: 1 }, ["/colour unknown_field"]],
  ["of a rule without conditions", { kind: "rule", value: "x" }, ["/conditions required"]],
  ["of a rule with an empty list of conditions", conditions(), ["/conditions too_few"]],
  ["of a rule with six conditions", conditions(...Array(6).fill(condition)), ["/conditions too_many"]],
  ["of a rule with a long name", { ...rule, value: "n".repeat(201) }, ["/value too_long"]],
  ["with a condition on a goal", conditions({ ...condition, dimension: "goal" }), ["/conditions/0/dimension invalid_choice"]],
  ["with a condition on the entry page", conditions({ ...condition, dimension: "entry_page" }), ["/conditions/0/dimension invalid_choice"]],
  ["with an unknown operator", conditions({ ...condition, operator: "matches" }), ["/conditions/0/operator invalid_choice"]],
  ["with a condition without values", conditions({ ...condition, values: [] }), ["/conditions/0/values too_few"]],
  ["with values that are not strings", conditions({ ...condition, values: [1] }), ["/conditions/0/values/0 invalid_type"]],
  ["with an empty condition value", conditions({ ...condition, values: ["/x", ""] }), ["/conditions/0/values/1 too_short"]],
  ["with a property condition without a key", conditions({ ...condition, dimension: "property" }), ["/conditions/0/property required"]],
  ["with a key for another dimension", conditions({ ...condition, property: "x" }), ["/conditions/0/property unsupported_combination"]],
  [
    "with a pattern that is too long",
    conditions(condition, { ...condition, operator: "matches_wildcard_not", values: ["*", "*".repeat(9)] }),
    ["/conditions/1/values/1 invalid_pattern"],
  ],
]

test.each(REFUSED)("rejects a shield %s", async (_, shield, faults) => {
  await using services = await withSite()
  const { instanceShields, siteShields, sites } = services
  expect(await faultsOf(instanceShields.add(shield))).toEqual(faults)
  expect(await faultsOf(siteShields.add(shield))).toEqual(faults)
  expect(await faultsOf(sites.configure(1, { shields: [{ kind: "country", value: "FR" }, shield] }))).toEqual(
    faults.map((fault) => `/shields/1${fault}`),
  )
  expect([instanceShields.current(), siteShields.current()]).toEqual([[], []])
})

test("rejects a duplicate shield", async () => {
  await using services = await withSite()
  for (const shields of [services.instanceShields, services.siteShields]) {
    await shields.add({ kind: "country", value: "DE" })
    expect(await faultsOf(shields.add({ kind: "country", value: "de" }))).toEqual([" not_unique"])
    await shields.add({ kind: "country", value: "FR" })
    expect(await faultsOf(shields.update(2, { value: "DE" }))).toEqual([" not_unique"])
    await shields.add({ ...rule, value: "DE" })
  }
})

test("names a rule after its conditions by default", async () => {
  await using services = await withSite()
  const named = await services.siteShields.add({
    kind: "rule",
    conditions: [
      { dimension: "country", values: ["DE", "AT"] },
      { dimension: "property", property: "plan", operator: "is_not", values: ["pro"] },
    ],
  })
  expect(named).toEqual({
    id: 1,
    kind: "rule",
    value: "country is DE or AT and plan is_not pro",
    conditions: [
      { dimension: "country", operator: "is", values: ["DE", "AT"] },
      { dimension: "property", property: "plan", operator: "is_not", values: ["pro"] },
    ],
    note: "",
    enabled: true,
  })
})

test("a change to a single shield changes only the site's list of shields", async () => {
  await using services = await withSite()
  const { siteShields, sites } = services
  await sites.configure(1, { drop_bots: false, shields: [{ kind: "country", value: "DE" }] })
  const [, second] = await Promise.all([siteShields.add({ kind: "country", value: "FR" }), siteShields.add(rule)])
  expect(second!.id).toBe(3)
  expect(await siteShields.update(3, { enabled: false, note: "later" })).toMatchObject({ id: 3, enabled: false, note: "later" })
  await siteShields.remove(2)
  expect(await faultsOf(siteShields.remove(2))).toBe("shield_not_found")
  expect(await faultsOf(siteShields.update(2, {}))).toBe("shield_not_found")
  expect((await sites.get(1)).settings).toMatchObject({
    drop_bots: false,
    shields: [
      { id: 1, value: "DE" },
      { id: 3, enabled: false },
    ],
  })
})

test("always keeps the values that a shield names exactly", async () => {
  await using services = await withSite()
  const { siteShields, instanceShields } = services
  const isExempt = createExemptValues({ ...services, directory: services.sites.directory })
  await siteShields.add({
    kind: "rule",
    conditions: [
      { dimension: "event", values: ["signup"] },
      { dimension: "property", property: "plan", operator: "is_not", values: ["pro"] },
      { dimension: "title", operator: "contains", values: ["part"] },
    ],
  })
  await instanceShields.add({ kind: "hostname", value: "evil.example" })
  const asked: [Parameters<typeof isExempt>[1], string][] = [
    ["name", "signup"],
    ["property", "plan"],
    ["property:7", "pro"],
    ["hostname", "evil.example"],
    ["title", "part"],
    ["page", "signup"],
    ["property", "other"],
  ]
  expect(asked.map(([dictionary, text]) => isExempt(1, dictionary, text))).toEqual([true, true, true, true, false, false, false])
})
