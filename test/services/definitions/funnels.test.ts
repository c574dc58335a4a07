import { expect, test } from "bun:test"
import { faultsOf } from "../faults.ts"
import { openServices } from "../instance.ts"

const steps = [
  { type: "page", value: "/cart" },
  { type: "event", value: "order" },
]
const order = { name: "Order", steps }

async function withSite() {
  const services = await openServices()
  const { id } = await services.organizations.create({ name: "Acme" })
  return { ...services, site: await services.sites.create(id, { name: "Shop", hosts: ["shop.example"] }) }
}

test("creates a funnel from the request and the defaults", async () => {
  await using services = await withSite()
  const at = Date.parse("2026-11-21T12:00:00Z")
  expect(await services.funnels.create(services.site, order)).toEqual({
    id: 1,
    site_id: 1,
    name: "Order",
    steps: [
      { type: "page", match: "exact", value: "/cart", name: "/cart" },
      { type: "event", match: "exact", value: "order", name: "order" },
    ],
    order: "sequential",
    window_hours: null,
    created_at: at,
    updated_at: at,
    version: 1,
  })
  expect(
    await services.funnels.create(services.site, {
      name: "Twice",
      steps: [
        { type: "page", match: "wildcard", value: "/p/*", name: "A product" },
        { type: "page", match: "wildcard", value: "/p/*" },
      ],
      order: "strict",
      window_hours: 720,
    }),
  ).toMatchObject({ id: 2, order: "strict", window_hours: 720, steps: [{ name: "A product" }, { name: "/p/*" }] })
})

test.each<[string, unknown, string[]]>([
  ["nothing", {}, ["/name required", "/steps required"]],
  ["one step", { name: "x", steps: steps.slice(1) }, ["/steps too_few_steps"]],
  ["eleven steps", { name: "x", steps: Array(11).fill(steps[0]) }, ["/steps too_many_steps"]],
  ["steps that are not a list", { name: "x", steps: { 0: steps[0] } }, ["/steps invalid_type"]],
  ["an unknown order", { ...order, order: "any" }, ["/order invalid_choice"]],
  ["a window of 0 hours", { ...order, window_hours: 0 }, ["/window_hours out_of_range"]],
  ["a window of 721 hours", { ...order, window_hours: 721 }, ["/window_hours out_of_range"]],
  ["a window as text", { ...order, window_hours: "24" }, ["/window_hours invalid_type"]],
  ["an unknown field of a step", { name: "x", steps: [{ ...steps[0], id: 1 }, steps[1]] }, ["/steps/0/id unknown_field"]],
  [
    "faults in several steps",
    {
      name: "x",
      steps: [
        { type: "click", value: "/a" },
        { type: "page", value: "a" },
        "/b",
        { type: "page", match: "wildcard", value: "/a" },
        { type: "event" },
      ],
      window_hours: 1.5,
    },
    [
      "/steps/0/type invalid_choice",
      "/steps/1/value invalid_path",
      "/steps/2 invalid_type",
      "/steps/3/value invalid_pattern",
      "/steps/4/value required",
      "/window_hours invalid_type",
    ],
  ],
])("rejects a funnel with %s", async (_, body, faults) => {
  await using services = await withSite()
  expect(await faultsOf(services.funnels.create(services.site, body))).toEqual(faults)
  expect(services.funnels.all(1)).toEqual([])
})

test("reports at most 20 faults", async () => {
  await using services = await withSite()
  const step = { type: "x", match: "x", value: "", name: "" }
  expect(await faultsOf(services.funnels.create(services.site, { name: "x", steps: Array(10).fill(step) }))).toHaveLength(20)
})

test("names are unique per site regardless of case, also for concurrent requests", async () => {
  await using services = await withSite()
  const { funnels, site } = services
  const results = await Promise.allSettled(["Order", "ORDER", "order"].map((name) => funnels.create(site, { name, steps })))
  expect(results.map((result) => (result.status === "fulfilled" ? result.value.id : result.reason.members.existing_id))).toEqual([1, 1, 1])
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"])
  await funnels.create(site, { name: "Other", steps })
  await expect(funnels.update(site, 2, { name: "oRDER" })).rejects.toMatchObject({ code: "funnel_exists", members: { existing_id: 1 } })
  expect(await funnels.update(site, 1, { name: "ORDER" })).toMatchObject({ name: "ORDER" })
})

test("a patch replaces all steps, and null removes the window", async () => {
  await using services = await withSite()
  const { funnels, site } = services
  await funnels.create(site, { ...order, window_hours: 24 })
  expect(await funnels.update(site, "1", { steps: [...steps, { type: "page", value: "/thanks" }] })).toMatchObject({
    steps: [{ value: "/cart" }, { value: "order" }, { value: "/thanks", name: "/thanks" }],
    window_hours: 24,
  })
  expect(await funnels.update(site, "1", { window_hours: null })).toMatchObject({ window_hours: null })
  expect(await faultsOf(funnels.update(site, "1", { order: null }))).toEqual(["/order invalid_type"])
  expect(await faultsOf(funnels.update(site, "2", {}))).toBe("funnel_not_found")
  await funnels.remove(site, "1")
  expect(await faultsOf(funnels.get(site, "1"))).toBe("funnel_not_found")
  expect(funnels.all(1)).toEqual([])
})
