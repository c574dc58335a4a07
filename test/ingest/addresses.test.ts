import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import ipaddr from "ipaddr.js"
import { addressRanges, clientOf, readAddress } from "../../src/ingest/address/client-address.ts"
import { createRates } from "../../src/ingest/collect/rates.ts"

describe("an address", () => {
  test.each([
    ["1.2.3.4", "1.2.3.4", 4],
    [" 1.2.3.4 ", "1.2.3.4", 4],
    ["1.2.3.4:5678", "1.2.3.4", 4],
    ["::ffff:1.2.3.4", "1.2.3.4", 4],
    ["::ffff:102:304", "1.2.3.4", 4],
    ["2001:DB8::1", "2001:db8::1", 16],
    ["[2001:db8::1]:443", "2001:db8::1", 16],
    ["[2001:db8::1]", "2001:db8::1", 16],
    ["fe80::1%eth0", "fe80::1", 16],
  ])("%s is read as %s", (text, expected, bytes) => {
    expect(readAddress(text)).toMatchObject({ text: expected, bytes: expect.objectContaining({ length: bytes }) })
  })

  test.each([
    [""],
    ["unknown"],
    ["1.2.3"],
    ["1.2.3.256"],
    ["01.2.3.4"],
    ["1.2.3.4.5"],
    ["0x7f.1"],
    ["2130706433"],
    ["::g"],
    ["[::1"],
    ["1.2.3.4/8"],
    ["<script>"],
  ])("rejects %p", (text) => {
    expect(readAddress(text)).toBeUndefined()
  })
})

test("reads the same IPv6 addresses as the library, into the same bytes", () => {
  const group = fc.oneof(
    fc.constantFrom("0", "ffff", "", "g1", "12345"),
    fc.nat(0xffff).map((value) => value.toString(16)),
  )
  const groups = fc.array(group, { minLength: 0, maxLength: 9 })
  const text = fc.oneof(
    groups.map((all) => all.join(":")),
    fc.tuple(groups, groups).map(([front, back]) => `${front.join(":")}::${back.join(":")}`),
  )
  fc.assert(
    fc.property(
      text.filter((each) => each.split(":").length > 2),
      (each) => {
        const expected = ipaddr.isValid(each) ? ipaddr.process(each).toByteArray() : undefined
        expect(readAddress(each)?.bytes).toEqual(expected && Uint8Array.from(expected))
      },
    ),
    { seed: 7, numRuns: 5_000 },
  )
})

describe("ranges", () => {
  const ranges = addressRanges([
    "10.0.0.0/8",
    "192.168.1.7",
    "2001:db8::/33",
    "::ffff:172.16.0.0/108",
    "nonsense",
    "1.2.3.4/33",
    "5.6.7.8/",
  ])
  test.each([
    ["10.255.0.1", "10.0.0.0/8"],
    ["11.0.0.1", undefined],
    ["192.168.1.7", "192.168.1.7"],
    ["192.168.1.8", undefined],
    ["172.31.255.255", "::ffff:172.16.0.0/108"],
    ["172.32.0.0", undefined],
    ["2001:db8:7fff::1", "2001:db8::/33"],
    ["2001:db8:8000::1", undefined],
    ["::ffff:10.1.1.1", "10.0.0.0/8"],
    ["1.2.3.4", undefined],
    ["5.6.7.8", undefined],
  ])("%s is found in %p", (text, expected) => {
    expect(ranges.find(readAddress(text)!)).toBe(expected)
  })

  test("with a prefix length of 0 contain every address of their family", () => {
    expect(addressRanges(["0.0.0.0/0"]).find(readAddress("9.9.9.9")!)).toBe("0.0.0.0/0")
    expect(addressRanges(["0.0.0.0/0"]).find(readAddress("::1")!)).toBeUndefined()
  })
})

describe("the client's address", () => {
  const trusted = addressRanges(["127.0.0.0/8", "::1/128", "10.0.0.0/8"])
  test.each([
    ["of a direct connection", "9.9.9.9", null, "9.9.9.9", false],
    ["of an untrusted peer, whatever the header claims", "9.9.9.9", "1.1.1.1", "9.9.9.9", false],
    ["behind one proxy", "127.0.0.1", "1.1.1.1", "1.1.1.1", true],
    ["behind a proxy over mapped IPv6", "::ffff:127.0.0.1", "1.1.1.1", "1.1.1.1", true],
    ["behind two proxies", "::1", "1.1.1.1, 10.0.0.5", "1.1.1.1", true],
    ["is the rightmost untrusted address", "127.0.0.1", "6.6.6.6, 1.1.1.1, 10.0.0.5", "1.1.1.1", true],
    ["is never an entry to the left of it", "127.0.0.1", "127.0.0.1, 1.1.1.1", "1.1.1.1", true],
    ["is the leftmost entry if all hops are trusted", "127.0.0.1", "10.0.0.9, 10.0.0.5", "10.0.0.9", true],
    ["behind a proxy that sends no header", "127.0.0.1", null, "127.0.0.1", true],
    ["behind a proxy that sends an empty list", "127.0.0.1", "", "127.0.0.1", true],
    ["behind a proxy that sends an invalid last entry", "127.0.0.1", "1.1.1.1, unknown", "127.0.0.1", true],
    ["is the entry to the right of an invalid one", "127.0.0.1", "<x>, 10.0.0.5", "10.0.0.5", true],
    ["of a peer without an address", undefined, "1.1.1.1", undefined, false],
  ])("%s", (_, peer, forwarded, address, viaProxy) => {
    const client = clientOf(peer, forwarded, trusted)
    expect([client.address?.text, client.viaProxy]).toEqual([address, viaProxy])
  })
})

describe("rate limits", () => {
  const limits = { visitorEventsPerMinute: 60, siteEventsPerSecond: 100, siteBurst: 150, instanceEventsPerSecond: 1_000 }

  test("limit a visitor who sends too many events, until time has passed", () => {
    const rates = createRates(limits)
    const takes = Array.from({ length: 61 }, () => rates.take(1, 1, 0))
    expect(takes.filter((wait) => wait === undefined).length).toBe(60)
    expect(takes[60]).toBe(1)
    expect(rates.take(2, 1, 0)).toBeUndefined()
    expect(rates.take(1, 1, 999)).toBe(1)
    expect(rates.take(1, 1, 1_000)).toBeUndefined()
    expect(rates.take(1, 1, 1_000)).toBe(1)
  })

  test("limit a site after its burst without affecting another site", () => {
    const rates = createRates({ ...limits, visitorEventsPerMinute: 0 })
    expect(Array.from({ length: 160 }, (_, visitor) => rates.take(visitor, 1, 0)).filter((wait) => wait === undefined).length).toBe(150)
    expect(rates.take(1, 2, 0)).toBeUndefined()
    expect(rates.take(1, 1, 20)).toBeUndefined()
  })

  test("limit the instance, and 0 disables every limit", () => {
    const rates = createRates({ visitorEventsPerMinute: 0, siteEventsPerSecond: 0, siteBurst: 0, instanceEventsPerSecond: 10 })
    expect(Array.from({ length: 12 }, (_, site) => rates.take(1, site, 0)).filter((wait) => wait === undefined).length).toBe(10)
    const none = createRates({ visitorEventsPerMinute: 0, siteEventsPerSecond: 0, siteBurst: 0, instanceEventsPerSecond: 0 })
    expect(Array.from({ length: 5_000 }, () => none.take(1, 1, 0)).every((wait) => wait === undefined)).toBe(true)
  })

  test("of a site and of the instance are divided by the nodes, and those of a visitor are not", () => {
    let nodes = 3
    const rates = createRates({ ...limits, visitorEventsPerMinute: 60, siteEventsPerSecond: 90 }, () => nodes)
    const taken = (count: number, at: number) =>
      Array.from({ length: count }, (_, index) => rates.take(at + index, 1, at)).filter((wait) => wait === undefined).length
    expect(taken(160, 0)).toBe(50)
    expect(taken(40, 1_000)).toBe(30)
    nodes = 1
    expect(taken(160, 2_000)).toBe(90)
    nodes = 3
    expect(Array.from({ length: 61 }, () => rates.take(1_000_000, 2, 0)).filter((wait) => wait === undefined).length).toBe(50)
    const ofVisitor = createRates({ ...limits, siteEventsPerSecond: 0, instanceEventsPerSecond: 0 }, () => nodes)
    expect(Array.from({ length: 61 }, () => ofVisitor.take(1, 1, 0)).filter((wait) => wait === undefined).length).toBe(60)
    // Each node admits at least one event at a time.
    const small = createRates({ visitorEventsPerMinute: 0, siteEventsPerSecond: 1, siteBurst: 1, instanceEventsPerSecond: 0 }, () => nodes)
    expect([small.take(1, 1, 0), small.take(1, 1, 0), small.take(1, 1, 3_000)]).toEqual([undefined, 3, undefined])
  })

  test("are not affected by a clock that is set back", () => {
    const rates = createRates({ ...limits, visitorEventsPerMinute: 1 })
    expect(rates.take(1, 1, 100_000)).toBeUndefined()
    expect(rates.take(1, 1, 0)).toBe(60)
  })
})

test("trusts a proxy only by the ranges that are asked for, also after others have trusted it", () => {
  const client = (ranges: readonly string[]) => {
    const { address, viaProxy } = clientOf("10.0.0.1", "203.0.113.7", addressRanges(ranges))
    return [address?.text, viaProxy]
  }
  expect(client(["10.0.0.0/8"])).toEqual(["203.0.113.7", true])
  expect(client(["192.0.2.0/24"])).toEqual(["10.0.0.1", false])
  expect(client(["10.0.0.0/8"])).toEqual(["203.0.113.7", true])
})
