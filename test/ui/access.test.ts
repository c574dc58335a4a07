import { expect, test } from "bun:test"
import { waitText } from "../../src/ui/parts/form/form.tsx"
import { passwordStrength } from "../../src/ui/parts/form/new-password.tsx"
import { nextPage, withNext } from "../../src/ui/sign-in/sign-in.ts"

test.each([
  ["", "/"],
  ["?next=/sites/3%3Fperiod%3D7d", "/sites/3?period=7d"],
  ["?next=//evil.example", "/"],
  ["?next=/%5Cevil.example", "/"],
  ["?next=https://evil.example", "/"],
  ["?next=javascript:alert(1)", "/"],
  ["?next=/%09/evil.example", "/"],
])("%j leads to %s after signing in", (search, page) => {
  expect(nextPage(search)).toBe(page)
})

test("passes only the requested page on to the next step", () => {
  expect(withNext("/signin", "?next=/sites/3&error=oidc_failed")).toBe("/signin?next=%2Fsites%2F3")
  expect(withNext("/signin", "?next=//evil.example")).toBe("/signin")
})

test.each([
  ["", "At least 12 characters. A few random words are easy to remember and hard to guess."],
  ["eleven chars".slice(0, 11), "Use at least 12 characters."],
  // Twelve emoji count as twelve characters, but are the same one repeated.
  ["😀".repeat(12), "Weak: too many repeated characters."],
  ["abababababab", "Weak: too many repeated characters."],
  ["my ADA@example.org 1", "Weak: it contains your email address."],
  ["tree house 7", "Fair. Longer is better."],
  ["tree house under", "Good."],
  ["correct horse battery staple", "Strong."],
  ["word ".repeat(60), "Use at most 256 characters."],
])("rates the password %j: %s", (password, words) => {
  expect(passwordStrength(password, "ada@example.org")).toBe(words)
})

test.each([
  [1, "1 s"],
  [119, "119 s"],
  [120, "2 min"],
  [601, "11 min"],
])("formats a wait of %d seconds as %s", (seconds, text) => {
  expect(waitText(seconds)).toBe(text)
})
