import { expect, test } from "bun:test"
import fc from "fast-check"
import ipaddr from "ipaddr.js"
import { parseAddressList } from "../../src/ingest/address/address-list.ts"
import { readAddress } from "../../src/ingest/address/client-address.ts"

const has = (list: string, address: string) => parseAddressList(list).has(readAddress(address)!)

test.each([
  ["198.51.100.0/24", "198.51.100.0", true],
  ["198.51.100.0/24", "198.51.100.255", true],
  ["198.51.100.0/24", "198.51.101.0", false],
  ["198.51.100.0/24", "198.51.99.255", false],
  ["198.51.100.9/24", "198.51.100.200", true],
  ["198.51.100.7", "198.51.100.7", true],
  ["198.51.100.7", "198.51.100.8", false],
  ["0.0.0.0/0", "255.255.255.255", true],
  ["0.0.0.0/0", "2001:db8::1", false],
  ["2001:db8::/33", "2001:db8:7fff:ffff::", true],
  ["2001:db8::/33", "2001:db8:8000::", false],
  ["::/0", "ffff::", true],
  ["::/0", "192.0.2.1", false],
  ["::ffff:192.0.2.0/120", "192.0.2.9", true],
  // A small range inside a large one must not hide the rest of the large one.
  ["10.0.0.0/8\n10.1.0.0/16\n10.2.0.0/31", "10.200.0.1", true],
  ["", "192.0.2.1", false],
])("the list %j contains %s: %p", (list, address, expected) => {
  expect(has(list, address)).toBe(expected)
})

test("ignores comments, empty lines and further columns, and accepts any line ending", () => {
  const list = "\ufeff# Networks\r\n\r\n 192.0.2.0/25 # the first\r\n198.51.100.0/24,DE,DE-BE,Berlin,\n\t2001:db8::/32\t\n#203.0.113.0/24"
  expect(["192.0.2.1", "198.51.100.1", "2001:db8::1", "192.0.2.128", "203.0.113.1"].map((address) => has(list, address))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
})

test.each([
  ["192.0.2.0/24\n10.0.0.0/33", 'line 2: "10.0.0.0/33" is not an address or range'],
  ["# x\n\nhosting.example", 'line 3: "hosting.example" is not an address or range'],
  ["2001:db8::/129", "line 1: "],
  ["192.0.2.0-192.0.2.9", "line 1: "],
  ["192.0.2/24", "line 1: "],
  ["\u0000\u0001\u0002", 'line 1: "\\u0000\\u0001\\u0002" is not an address or range'],
  [`x${"y".repeat(500)}`, `line 1: "x${"y".repeat(59)}" is not an address or range`],
])("rejects a bad line with its number: %#", (list, message) => {
  expect(() => parseAddressList(list)).toThrow(message)
})

test("finds the same addresses as a linear search", () => {
  const four = fc.tuple(fc.constantFrom(10, 11, 192), fc.nat(3), fc.nat(255), fc.nat(255)).map((parts) => parts.join("."))
  const six = fc
    .array(fc.constantFrom("0", "1", "8000", "ffff"), { minLength: 7, maxLength: 7 })
    .map((groups) => `2001:${groups.join(":")}`)
  const range = fc.oneof(fc.tuple(four, fc.integer({ min: 6, max: 32 })), fc.tuple(six, fc.integer({ min: 14, max: 128 })))
  const covers = (address: string) => (cidr: string) => {
    const [one, [base, bits]] = [ipaddr.parse(address), ipaddr.parseCIDR(cidr)]
    return one.kind() === base.kind() && one.match(base, bits)
  }
  fc.assert(
    fc.property(fc.array(range, { maxLength: 40 }), fc.array(fc.oneof(four, six), { minLength: 1, maxLength: 20 }), (ranges, addresses) => {
      const cidrs = ranges.map(([base, bits]) => `${base}/${bits}`)
      const list = parseAddressList(cidrs.join("\n"))
      for (const address of addresses) expect(list.has(readAddress(address)!)).toBe(cidrs.some(covers(address)))
    }),
    { seed: 7, numRuns: 2_000 },
  )
})
