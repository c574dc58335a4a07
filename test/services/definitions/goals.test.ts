import { expect, test } from "bun:test"
import { createExemptValues } from "../../../src/services/definitions/exempt-values.ts"
import { faultsOf } from "../faults.ts"
import { openServices } from "../instance.ts"

const signup = { kind: "event", value: "signup" }

async function withSite() {
  const services = await openServices()
  const { id } = await services.organizations.create({ name: "Acme" })
  return { ...services, site: await services.sites.create(id, { name: "Shop", hosts: ["shop.example"] }) }
}

const FIRST = { after: 0, limit: 100 }
const long = (length: number) => "x".repeat(length)

test.each([
  [signup, { kind: "event", match: "exact", value: "signup", name: "signup" }],
  [
    { kind: "page", value: "/thanks" },
    { kind: "page", match: "exact", value: "/thanks", name: "Visit /thanks" },
  ],
  [
    { kind: "scroll", match: "prefix", value: "/blog/", threshold: 75 },
    { kind: "scroll", match: "prefix", value: "/blog/", threshold: 75, name: "Scroll 75 % on /blog/" },
  ],
  [
    { kind: "event", value: " order ", name: " Order ", props: { plan: " pro ", coupon: "x" } },
    { kind: "event", match: "exact", value: "order", name: "Order", props: { coupon: "x", plan: "pro" } },
  ],
  [
    { kind: "event", value: "x", props: {} },
    { kind: "event", match: "exact", value: "x", name: "x" },
  ],
  [
    { kind: "page", match: "wildcard", value: "*/thanks" },
    { kind: "page", match: "wildcard", value: "*/thanks", name: "Visit */thanks" },
  ],
  [
    { kind: "page", match: "contains", value: "cart" },
    { kind: "page", match: "contains", value: "cart", name: "Visit cart" },
  ],
  [
    { kind: "page", value: `/${long(1999)}` },
    { kind: "page", match: "exact", value: `/${long(1999)}`, name: `Visit /${long(113)}` },
  ],
  [
    { kind: "event", value: "🚀".repeat(120) },
    { kind: "event", match: "exact", value: "🚀".repeat(120), name: "🚀".repeat(120) },
  ],
])("creates a goal from %j", async (body, goal) => {
  await using services = await withSite()
  const { goals, site } = services
  const at = Date.parse("2026-11-21T12:00:00Z")
  expect(await goals.create(site, body)).toEqual({ id: 1, site_id: 1, ...goal, created_at: at, updated_at: at, version: 1 } as never)
  expect(await goals.list(site, FIRST)).toMatchObject([goal])
  expect(goals.rules(site.id)).toMatchObject([goal])
})

test.each([
  ["nothing", {}, ["/kind required", "/value required"]],
  ["an unknown kind", { ...signup, kind: "click" }, ["/kind invalid_choice"]],
  ["a kind that is not a string", { ...signup, kind: 1 }, ["/kind invalid_type"]],
  ["an unknown match", { ...signup, match: "regex" }, ["/match invalid_choice"]],
  ["an empty value", { kind: "event", value: "" }, ["/value too_short"]],
  ["a value that is null", { kind: "event", value: null }, ["/value invalid_type"]],
  ["an event name of 121 characters", { kind: "event", value: long(121) }, ["/value too_long"]],
  ["a page of 2001 characters", { kind: "page", value: `/${long(2000)}` }, ["/value too_long"]],
  ["a name of 121 characters", { ...signup, name: long(121) }, ["/name too_long"]],
  ["a page without /", { kind: "page", value: "thanks" }, ["/value invalid_path"]],
  ["a prefix without /", { kind: "page", match: "prefix", value: "blog" }, ["/value invalid_path"]],
  ["a URL for a page", { kind: "page", value: "https://shop.example/" }, ["/value invalid_path"]],
  ["a query parameter that pages do not contain", { kind: "page", value: "/a?id=1" }, ["/value invalid_path"]],
  ["a fragment that pages do not contain", { kind: "scroll", value: "/#top", threshold: 5 }, ["/value invalid_path"]],
  ["a wildcard that does not begin with /", { kind: "page", match: "wildcard", value: "a*" }, ["/value invalid_path"]],
  ["a wildcard without *", { kind: "page", match: "wildcard", value: "/a" }, ["/value invalid_pattern"]],
  ["nine *", { kind: "event", match: "wildcard", value: "a*b*c*d*e*f*g*h*i*" }, ["/value invalid_pattern"]],
  ["a wildcard of 201 characters", { kind: "page", match: "wildcard", value: `/${long(199)}*` }, ["/value invalid_pattern"]],
  ["a scroll goal without a threshold", { kind: "scroll", value: "/" }, ["/threshold required"]],
  ["a threshold of 101", { kind: "scroll", value: "/", threshold: 101 }, ["/threshold out_of_range"]],
  ["a threshold as text", { kind: "scroll", value: "/", threshold: "50" }, ["/threshold invalid_type"]],
  ["a threshold for another kind", { ...signup, threshold: 5 }, ["/threshold unsupported_combination"]],
  ["properties for a scroll goal", { kind: "scroll", value: "/", threshold: 5, props: { a: "b" } }, ["/props unsupported_combination"]],
  ["four properties", { ...signup, props: { a: "1", b: "2", c: "3", d: "4" } }, ["/props too_many"]],
  ["a property that is a number", { ...signup, props: { a: 1 } }, ["/props/a invalid_type"]],
  ["a list of properties", { ...signup, props: ["a"] }, ["/props invalid_type"]],
  ["a property name with a line break", { ...signup, props: { "a\nb": "1" } }, ["/props invalid_characters"]],
  ["a property name of 301 bytes", { ...signup, props: { [long(301)]: "1" } }, ["/props too_long"]],
  ["an unknown field", { ...signup, regex: true }, ["/regex unknown_field"]],
  ["several faults", { name: "", value: "x", kind: "page", match: "like" }, ["/name too_short", "/match invalid_choice"]],
])("rejects a goal with %s", async (_, body, faults) => {
  await using services = await withSite()
  expect(await faultsOf(services.goals.create(services.site, body))).toEqual(faults)
  expect(services.goals.rules(1)).toEqual([])
})

test("accepts query parameters and fragments that the site's settings keep", async () => {
  await using services = await withSite()
  const { goals } = services
  const site = { ...services.site, settings: { ...services.site.settings, allowed_query_params: ["product", "page"], hash_routing: true } }
  const tried = async (body: object) => faultsOf(goals.create(site, { kind: "page", ...body }))
  expect(await tried({ value: "/a?product=1&page=2" })).toBe("accepted")
  expect(await tried({ value: "/a#/settings?x=1" })).toBe("accepted")
  expect(await tried({ value: "/a?product=1&id=2" })).toEqual(["/value invalid_path"])
  expect(await tried({ match: "prefix", value: "/a?pro" })).toBe("accepted")
  expect(await tried({ match: "prefix", value: "/a?id" })).toEqual(["/value invalid_path"])
})

test.each([
  ["an identical one", signup],
  ["an equivalent one", { ...signup, match: "exact", name: "Other" }],
  ["a name in another case", { kind: "page", value: "/x", name: "SignUp" }],
])("rejects a duplicate goal: %s", async (_, body) => {
  await using services = await withSite()
  const { goals, site } = services
  await goals.create(site, signup)
  await expect(goals.create(site, body)).rejects.toMatchObject({ code: "goal_exists", members: { existing_id: 1 } })
})

test("goals differ by match, threshold, properties and site", async () => {
  await using services = await withSite()
  const { goals, sites, site } = services
  const scroll = { kind: "scroll", value: "/", threshold: 50 }
  for (const body of [
    signup,
    { ...signup, match: "prefix", name: "2" },
    { ...signup, props: { a: "1", b: "2" }, name: "3" },
    { ...signup, props: { a: "1", b: "3" }, name: "4" },
    { ...scroll, name: "5" },
    { ...scroll, threshold: 51, name: "6" },
  ])
    await goals.create(site, body)
  await expect(goals.create(site, { ...signup, props: { b: "2", a: "1" }, name: "7" })).rejects.toMatchObject({
    members: { existing_id: 3 },
  })
  await expect(goals.create(site, { ...scroll, name: "8" })).rejects.toMatchObject({ members: { existing_id: 5 } })
  const other = await sites.create(site.organization_id, { name: "Other", hosts: ["other.example"] })
  expect(await goals.create(other, signup)).toMatchObject({ id: 7, site_id: 2 })
})

test("one of several concurrent requests creates a goal, and the others get its id", async () => {
  await using services = await withSite()
  const { goals, site } = services
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => goals.create(site, signup)))
  const made = results.filter((result) => result.status === "fulfilled")
  const refused = results.filter((result) => result.status === "rejected")
  expect(made.map(({ value }) => value.id)).toEqual([1])
  expect(refused.map(({ reason }) => `${reason.code} ${reason.members.existing_id}`)).toEqual(Array(19).fill("goal_exists 1"))
  expect(await goals.list(site, FIRST)).toHaveLength(1)
  expect(goals.rules(site.id)).toHaveLength(1)
})

test("reads, changes and removes a goal only through its own site", async () => {
  await using services = await withSite()
  const { goals, sites, site, clock } = services
  const other = await sites.create(site.organization_id, { name: "Other", hosts: ["other.example"] })
  const goal = await goals.create(site, { kind: "page", value: "/a", props: { x: "1" } })
  await goals.create(site, signup)
  for (const id of ["01", "abc", "", "7", "1e0", undefined, -1]) expect(await faultsOf(goals.get(site, id))).toBe("goal_not_found")
  expect(await faultsOf(goals.get(other, 1))).toBe("goal_not_found")
  expect(await faultsOf(goals.update(other, 1, {}))).toBe("goal_not_found")
  expect(await faultsOf(goals.remove(other, 1))).toBe("goal_not_found")
  expect(await goals.get(site, "1")).toEqual(goal)
  clock.advance(5)
  expect(await goals.update(site, "1", { value: "/b" })).toEqual({ ...goal, value: "/b", updated_at: goal.updated_at + 5, version: 2 })
  expect(await faultsOf(goals.update(site, "1", { value: "b" }))).toEqual(["/value invalid_path"])
  expect(await faultsOf(goals.update(site, "1", { name: "SIGNUP" }))).toBe("goal_exists")
  expect(await faultsOf(goals.update(site, "1", { name: null }))).toEqual(["/name invalid_type"])
  expect(await goals.update(site, 1, { kind: "scroll", threshold: 5 })).toEqual({
    ...(({ props: _, ...rest }) => rest)(goal),
    kind: "scroll",
    value: "/b",
    threshold: 5,
    updated_at: goal.updated_at + 5,
    version: 3,
  })
  expect(await goals.update(site, 1, { kind: "event", value: "b" })).not.toHaveProperty("threshold")
  expect(goals.rules(site.id).map(({ kind, value }) => `${kind} ${value}`)).toEqual(["event b", "event signup"])
  await goals.remove(site, 1)
  expect(await faultsOf(goals.remove(site, 1))).toBe("goal_not_found")
  expect(goals.rules(site.id).map(({ id }) => id)).toEqual([2])
  expect(await goals.create(site, { kind: "event", value: "again" })).toMatchObject({ id: 3 })
})

test("a site has at most 200 goals", async () => {
  await using services = await withSite()
  const { goals, site } = services
  for (let i = 0; i < 200; i++) await goals.create(site, { kind: "event", value: `e${i}` })
  await expect(goals.create(site, signup)).rejects.toMatchObject({ code: "limit_reached", members: { limit: 200, resource: "goals" } })
})

test("keeps the values that goals, steps and shields name exactly", async () => {
  await using services = await withSite()
  const { goals, funnels, sites, site } = services
  await goals.create(site, { kind: "event", value: "signup", props: { plan: "pro" } })
  await goals.create(site, { kind: "page", match: "prefix", value: "/blog" })
  await goals.create(site, { kind: "scroll", value: "/read", threshold: 50 })
  const steps = [
    { type: "page", value: "/cart" },
    { type: "event", value: "order" },
  ]
  const funnel = await funnels.create(site, { name: "F", steps })
  const shielded = {
    ...site,
    settings: { ...site.settings, shields: [{ id: 1, kind: "hostname", value: "evil.example", note: "", enabled: true } as const] },
  }
  const directory = { byId: (id: number) => (id === site.id ? shielded : sites.directory.byId(id)) }
  const isExempt = createExemptValues({ directory, goals, funnels, instanceShields: { current: () => [] } })
  expect(isExempt(1, "name", "signup")).toBe(true)
  expect(isExempt(1, "name", "/cart")).toBe(false)
  expect(isExempt(1, "name", "order")).toBe(true)
  expect(isExempt(1, "page", "/cart")).toBe(true)
  expect(isExempt(1, "page", "/read")).toBe(true)
  expect(isExempt(1, "page", "/blog")).toBe(false)
  expect(isExempt(1, "property", "plan")).toBe(true)
  expect(isExempt(1, "property:7", "pro")).toBe(true)
  expect(isExempt(1, "property:7", "free")).toBe(false)
  expect(isExempt(1, "hostname", "evil.example")).toBe(true)
  expect(isExempt(1, "hostname", "shop.example")).toBe(false)
  expect(isExempt(2, "name", "signup")).toBe(false)
  await funnels.remove(site, funnel.id)
  expect(isExempt(1, "page", "/cart")).toBe(false)
})
