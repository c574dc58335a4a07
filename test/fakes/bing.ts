/** A request for the data of a site. */
export interface BingCall {
  method: string
  siteUrl: string | null
  key: string | null
}

export interface Bing extends AsyncDisposable {
  origin: string
  key: string
  /** Answer of each method, or the error that all of them return. */
  answers: Record<string, object[]>
  failure: { status: number; code?: number; body?: string } | undefined
  calls: BingCall[]
}

/** Starts a server on loopback that acts like Bing's Webmaster API. */
export function bing(): Bing {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      const method = pathname.split("/").at(-1)!
      fake.calls.push({ method, siteUrl: searchParams.get("siteUrl"), key: searchParams.get("apikey") })
      if (fake.failure) {
        const { status, code, body } = fake.failure
        return body === undefined
          ? Response.json({ ErrorCode: code, Message: "The fake refuses." }, { status })
          : new Response(body, { status })
      }
      if (searchParams.get("apikey") !== fake.key)
        return Response.json({ ErrorCode: 3, Message: "ERROR!!! InvalidApiKey" }, { status: 400 })
      return Response.json({ d: fake.answers[method] ?? null })
    },
  })
  const fake: Bing = {
    origin: `http://127.0.0.1:${server.port}`,
    key: "0123456789abcdef0123456789abcdef",
    answers: {},
    failure: undefined,
    calls: [],
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
  return fake
}
