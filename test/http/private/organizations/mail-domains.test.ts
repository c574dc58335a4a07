import { expect, test } from "bun:test"
import { createAudit } from "../../../../src/services/audit/audit.ts"
import { createMailDomains } from "../../../../src/services/oidc/mail-domains.ts"
import { startInstance } from "../../../kit.ts"
import { faultsOf } from "../../../services/faults.ts"
import { openServices } from "../../../services/instance.ts"
import { faultsIn, newestEntries, newUser, ORGANIZATION } from "../people.ts"

const DOMAINS = `${ORGANIZATION}/domains`

test("a domain is added with the record that verifies it, listed and removed", async () => {
  await using instance = await startInstance()
  const owner = await newUser(instance, { role: "owner" })
  const made = await owner.send("POST", DOMAINS, { domain: " Bücher.Example. " })
  expect(made).toMatchObject({
    status: 201,
    body: {
      id: 1,
      domain: "xn--bcher-kva.example",
      record: { type: "TXT", name: "xn--bcher-kva.example", value: expect.stringMatching(/^footfall-verify=[0-9a-f]{40}$/) },
      verified_at: null,
      created_at: "2026-11-21T12:00:00Z",
    },
  })
  expect(await newestEntries(instance)).toMatchObject([{ action: "accounts.mail_domain.create", organization_id: 1 }])
  expect((await owner.send("POST", DOMAINS, { domain: "xn--bcher-kva.example" })).body.id).toBe(1)
  expect((await owner.get(DOMAINS)).body).toEqual({ data: [made.body], has_more: false, next_cursor: null })
  for (const domain of ["localhost", "*.example.org", "192.0.2.1", "a b.example", "https://example.org", "-.example"])
    expect(faultsIn(await owner.send("POST", DOMAINS, { domain }))).toEqual(["/domain invalid_domain"])
  expect(faultsIn(await owner.send("POST", DOMAINS, {}))).toEqual(["/domain required"])
  for (const [method, path] of [
    ["DELETE", "/9"],
    ["DELETE", "/x"],
    ["POST", "/9/verify"],
  ] as const)
    expect((await owner.send(method, DOMAINS + path)).body.code).toBe("domain_not_found")
  expect((await owner.send("DELETE", `${DOMAINS}/1`)).status).toBe(204)
  expect((await owner.get(DOMAINS)).body.data).toEqual([])
})

/** The service with the test's own DNS records. */
async function withRecords(enabled = true) {
  const services = await openServices()
  const records: Record<string, string[]> = {}
  const mailDomains = createMailDomains({
    ...services,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    resolveTxt: async (domain) => records[domain] ?? Promise.reject(new Error("no such name")),
    outbound: { enabled },
    hasInstanceProvider: false,
  })
  const [acme, other] = [await services.organizations.create({ name: "Acme" }), await services.organizations.create({ name: "Other" })]
  return { ...services, mailDomains, records, acme: acme.id, other: other.id }
}

test("the record verifies the domain for one organization only", async () => {
  await using services = await withRecords()
  const { mailDomains, records, acme, other, clock, catalog } = services
  const audit = createAudit({ catalog, clock })
  const own = await mailDomains.create(acme, { domain: "example.org" })
  const theirs = await mailDomains.create(other, { domain: "example.org" })
  expect(own.token).not.toBe(theirs.token)
  expect(await faultsOf(mailDomains.verify(acme, "1"))).toBe("domain_not_verified")
  records["example.org"] = ["v=spf1 -all", `footfall-verify=${own.token}x`, ` footfall-verify=${own.token}`, own.token]
  expect(await faultsOf(mailDomains.verify(acme, "1"))).toBe("domain_not_verified")
  records["example.org"].push(`footfall-verify=${own.token}`, `footfall-verify=${theirs.token}`)
  expect(await mailDomains.verify(acme, "1")).toMatchObject({ verified_at: clock.now() })
  expect(await faultsOf(mailDomains.verify(other, "2"))).toBe("domain_taken")
  expect(await faultsOf(mailDomains.verify(other, "1"))).toBe("domain_not_found")
  expect(await faultsOf(mailDomains.create(other, { domain: "Example.org" }))).toBe("domain_taken")
  // A verified domain stays verified, whatever the DNS returns later.
  delete records["example.org"]
  expect(await mailDomains.verify(acme, "1")).toMatchObject({ verified_at: clock.now() })
  await mailDomains.remove(acme, "1")
  records["example.org"] = [`footfall-verify=${theirs.token}`]
  expect(await mailDomains.verify(other, "2")).toMatchObject({ domain: "example.org" })
  expect(await audit.verify()).toMatchObject({ ok: true })
})

test("of two organizations that verify a domain at the same time, one succeeds", async () => {
  await using services = await withRecords()
  const { mailDomains, records, acme, other } = services
  const both = [await mailDomains.create(acme, { domain: "example.org" }), await mailDomains.create(other, { domain: "example.org" })]
  records["example.org"] = both.map(({ token }) => `footfall-verify=${token}`)
  const results = await Promise.all([faultsOf(mailDomains.verify(acme, "1")), faultsOf(mailDomains.verify(other, "2"))])
  expect(results.sort()).toEqual(["accepted", "domain_taken"])
})

test("without outgoing requests, no domain is looked up", async () => {
  await using services = await withRecords(false)
  const { mailDomains, records, acme } = services
  const { token } = await mailDomains.create(acme, { domain: "example.org" })
  records["example.org"] = [`footfall-verify=${token}`]
  expect(await faultsOf(mailDomains.verify(acme, "1"))).toBe("outbound_disabled")
  await using instance = await startInstance({ settings: { outbound: "off" } })
  const owner = await newUser(instance, { role: "owner" })
  await owner.send("POST", DOMAINS, { domain: "example.org" })
  expect(await owner.send("POST", `${DOMAINS}/1/verify`)).toMatchObject({ status: 422, body: { code: "outbound_disabled" } })
})
