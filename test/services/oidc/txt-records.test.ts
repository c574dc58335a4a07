import { expect, test } from "bun:test"
import { txtResolver } from "../../../src/services/oidc/mail-domains.ts"
import { nameServer } from "./name-server.ts"

test("texts of a domain are read, and a domain without any is a failure", async () => {
  using server = await nameServer({ "example.org": [["footfall-verify=abc"], ["v=spf1 ", "-all"]] })
  const resolve = txtResolver([server.address])
  expect(await resolve("example.org")).toContain("footfall-verify=abc")
  await expect(resolve("unknown.example.org")).rejects.toThrow()
})
