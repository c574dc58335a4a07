import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto"

/** Deviations of an ID token from a valid one. */
export interface TokenDefects {
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  /** Signed with a key that the provider does not publish. */
  foreignKey?: boolean
  /** Omits the signature. */
  unsigned?: boolean
  /** Signs with the client secret, using HS256. */
  shared?: boolean
}

export interface Person {
  sub: string
  email?: string
  email_verified?: unknown
  name?: string
  groups?: string[]
}

type SigningAlgorithm = "RS256" | "PS256" | "ES256" | "EdDSA"

/** A small OpenID provider on loopback with keys of its own. A test signs a person in by requesting the callback URL. */
export function identityProvider({
  now,
  clientId = "footfall",
  clientSecret = "between us",
}: {
  now(): number
  clientId?: string
  clientSecret?: string
}) {
  const codes = new Map<string, { person: Person; query: URLSearchParams; odd: TokenDefects }>()
  let key = makeKey("RS256", "key-1")
  const counts = { discovery: 0, keys: 0, token: 0 }
  let discovered: Record<string, unknown> = {}
  let isPublic = false

  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request): Promise<Response> {
      const { pathname } = new URL(request.url)
      if (pathname === "/.well-known/openid-configuration") {
        counts.discovery++
        return Response.json({ ...metadata(), ...discovered })
      }
      if (pathname === "/keys") {
        counts.keys++
        return Response.json({ keys: [{ ...key.publicKey.export({ format: "jwk" }), kid: key.kid, use: "sig", alg: key.algorithm }] })
      }
      if (pathname === "/token") return token(request)
      return new Response("no", { status: 404 })
    },
  })
  const issuer: string = `http://127.0.0.1:${server.port}`
  const metadata = (): Record<string, unknown> => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    end_session_endpoint: `${issuer}/logout`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
    code_challenge_methods_supported: ["S256"],
  })

  async function token(request: Request): Promise<Response> {
    counts.token++
    const form = new URLSearchParams(await request.text())
    const [id, secret] = Buffer.from(request.headers.get("authorization")?.slice("Basic ".length) ?? "", "base64")
      .toString()
      .split(":")
      .map((part) => decodeURIComponent(part.replaceAll("+", " ")))
    const known = codes.get(form.get("code") ?? "")
    codes.delete(form.get("code") ?? "")
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url")
    const isRight =
      (isPublic ? form.get("client_id") === clientId : id === clientId && secret === clientSecret) &&
      form.get("grant_type") === "authorization_code" &&
      challenge === known?.query.get("code_challenge") &&
      form.get("redirect_uri") === known?.query.get("redirect_uri")
    if (!isRight || !known) return Response.json({ error: "invalid_grant" }, { status: 400 })
    return Response.json({ access_token: randomUUID(), token_type: "Bearer", id_token: idToken(known.person, known.query, known.odd) })
  }

  function idToken(person: Person, query: URLSearchParams, odd: TokenDefects): string {
    const seconds = Math.floor(now() / 1_000)
    const claims = { iss: issuer, aud: clientId, iat: seconds, exp: seconds + 300, nonce: query.get("nonce"), ...person, ...odd.claims }
    const header = {
      alg: key.algorithm,
      kid: key.kid,
      typ: "JWT",
      ...(odd.unsigned && { alg: "none" }),
      ...(odd.shared && { alg: "HS256" }),
      ...odd.header,
    }
    const body = `${part(header)}.${part(claims)}`
    if (odd.unsigned) return `${body}.`
    if (odd.shared) return `${body}.${createHmac("sha256", clientSecret).update(body).digest("base64url")}`
    const by = odd.foreignKey ? makeKey(key.algorithm, key.kid) : key
    return `${body}.${signed(body, by)}`
  }

  return {
    issuer,
    clientId,
    clientSecret,
    counts,
    /** Replaces the published key. */
    rotate(algorithm: SigningAlgorithm, kid: string) {
      key = makeKey(algorithm, kid)
    },
    /** From now on, accepts the client by its id alone, like a public client. */
    openToPublic() {
      isPublic = true
    },
    /** Overrides members of the discovery document. */
    claim: (more: Record<string, unknown>) => {
      discovered = more
    },
    /** Signs in a person who was redirected here, and returns the URL to which the browser is sent back. */
    signIn(location: string, person: Person, odd: TokenDefects = {}): URL {
      const query = new URL(location).searchParams
      const code = randomUUID()
      codes.set(code, { person, query, odd })
      const back = new URL(query.get("redirect_uri")!)
      back.searchParams.set("code", code)
      back.searchParams.set("state", query.get("state")!)
      return back
    },
    [Symbol.asyncDispose]: async () => server.stop(true),
  }
}

interface Key {
  algorithm: SigningAlgorithm
  kid: string
  publicKey: KeyObject
  privateKey: KeyObject
}

function makeKey(algorithm: SigningAlgorithm, kid: string): Key {
  if (algorithm === "ES256") return { algorithm, kid, ...generateKeyPairSync("ec", { namedCurve: "P-256" }) }
  if (algorithm === "EdDSA") return { algorithm, kid, ...generateKeyPairSync("ed25519") }
  return { algorithm, kid, ...generateKeyPairSync("rsa", { modulusLength: 2_048 }) }
}

function signed(body: string, { algorithm, privateKey }: Key): string {
  const data = Buffer.from(body)
  if (algorithm === "EdDSA") return sign(null, data, privateKey).toString("base64url")
  if (algorithm === "ES256") return sign("sha256", data, { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")
  // RSA_PKCS1_PSS_PADDING of node:crypto.
  const padding = algorithm === "PS256" ? { padding: 6, saltLength: 32 } : {}
  return sign("sha256", data, { key: privateKey, ...padding }).toString("base64url")
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")
