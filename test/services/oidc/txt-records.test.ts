import { expect, test } from "bun:test"
import { txtResolver } from "../../../src/services/oidc/mail-domains.ts"
import { nameServer } from "./name-server.ts"

test("reads the TXT records of a domain and fails for a domain without any", async () => {
  using server = await nameServer({ "example.org": [["footfall-verify=abc"], ["v=spf1 ", "-all"]] })
  const resolve = txtResolver([server.address])
  expect(await resolve("example.org")).toContain("footfall-verify=abc")
  await expect(resolve("unknown.example.org")).rejects.toThrow()
})
