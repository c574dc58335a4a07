import { describe, expect, test } from "bun:test"
import { openStage } from "./stage.ts"

const DAY_MS = 86_400_000

describe("slugs", () => {
  test("are equal regardless of case and organization, and free ones are suggested", async () => {
    await using stage = await openStage()
    const other = await stage.app.instance.organizations.create({ name: "Other" })
    const theirs = await stage.app.instance.sites.create(other.id, { name: "Other", hosts: ["other.example"] })
    const otherOwner = { cookie: await stage.signIn({ role: "owner", organizationId: other.id }) }
    await stage.make({ slug: "Spring" })
    await stage.make({ slug: "spring-2" })
    const taken = { status: 409, body: { code: "slug_taken", suggestions: ["SPRING-3", "SPRING-4", "SPRING-5"] } }
    const wanted = { name: "N", kind: "page", slug: "SPRING" }
    expect(await stage.send("POST", "", wanted)).toMatchObject(taken)
    expect(await stage.api.post(`/api/private/sites/${theirs.id}/pixels`, wanted, undefined, otherOwner)).toMatchObject(taken)
  })

  test("of deleted pixels are reserved for 90 days, except for their organization with force", async () => {
    await using stage = await openStage()
    const other = await stage.app.instance.organizations.create({ name: "Other" })
    const theirs = await stage.app.instance.sites.create(other.id, { name: "Other", hosts: ["other.example"] })
    const otherOwner = { cookie: await stage.signIn({ role: "owner", organizationId: other.id }) }
    const { id } = await stage.make({ slug: "spring" })
    const late = await stage.make({ slug: "summer" })
    for (const gone of [id, late.id]) await stage.send("DELETE", `/${gone}`)
    const wanted = { name: "N", kind: "page", slug: "Spring" }
    const recently = { status: 409, body: { code: "slug_recently_used" } }
    const path = `/api/private/sites/${theirs.id}/pixels`
    expect(await stage.send("POST", "", wanted)).toMatchObject(recently)
    expect(await stage.api.post(path, { ...wanted, force: true }, undefined, otherOwner)).toMatchObject(recently)
    expect(await stage.send("POST", "", { ...wanted, force: true })).toMatchObject({ status: 201 })
    expect(await stage.send("POST", `/${id}/restore`)).toMatchObject({ status: 409, body: { code: "slug_taken" } })
    stage.clock.advance(91 * DAY_MS)
    const again = { cookie: await stage.signIn({ role: "owner", organizationId: other.id }) }
    expect(await stage.api.post(path, { ...wanted, slug: "summer" }, undefined, again)).toMatchObject({ status: 201 })
  })

  test("that a pixel gave up can be taken back by it", async () => {
    await using stage = await openStage()
    const { id } = await stage.make({ slug: "spring" })
    expect(await stage.send("PATCH", `/${id}`, { slug: "summer" })).toMatchObject({ status: 200 })
    expect(await stage.send("POST", "", { name: "N", kind: "page", slug: "spring" })).toMatchObject({ status: 409 })
    expect(await stage.send("PATCH", `/${id}`, { slug: "Spring" })).toMatchObject({ status: 200, body: { slug: "Spring", version: 3 } })
  })
})
