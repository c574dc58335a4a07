import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"

export type Algorithm = "ES256" | "EdDSA" | "RS256"

/** Defects that a test can request of the authenticator. */
export interface Defects {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  crossOrigin?: boolean
  /** The user was not verified by fingerprint or PIN. */
  unverified?: boolean
  count?: number
  userHandle?: string
  /** Alters the signature afterwards. */
  forged?: boolean
}

/** An authenticator in software with real keys and signatures, implemented from the standard and not with the server's library. */
export function createAuthenticator(origin: string, algorithm: Algorithm = "ES256") {
  const { publicKey, privateKey } = keysOf(algorithm)
  const id = randomBytes(32)
  let count = 0
  let userHandle = ""

  const clientData = (type: string, challenge: string, defects: Defects): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: defects.type ?? type,
        challenge: defects.challenge ?? challenge,
        origin: defects.origin ?? origin,
        crossOrigin: defects.crossOrigin ?? false,
      }),
    )
  function authData(rpId: string, flags: number, defects: Defects, rest: Buffer = Buffer.alloc(0)): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(defects.count ?? count)
    const verified = defects.unverified ? flags & ~0x04 : flags
    return Buffer.concat([sha256(defects.rpId ?? rpId), Buffer.from([verified]), counter, rest])
  }

  return {
    id: id.toString("base64url"),
    /** Registers a credential for the server's options. */
    create({ challenge, rp, user }: { challenge: string; rp: { id: string }; user: { id: string } }, defects: Defects = {}) {
      userHandle = user.id
      const key = cborMap(coseOf(publicKey, algorithm))
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const attested = Buffer.concat([Buffer.alloc(16), length, id, key])
      const data = authData(rp.id, 0x45, defects, attested)
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        ...[text("fmt"), text("none"), text("attStmt"), Buffer.from([0xa0]), text("authData"), bytes(data)],
      ])
      return {
        id: id.toString("base64url"),
        rawId: id.toString("base64url"),
        type: "public-key",
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData("webauthn.create", challenge, defects).toString("base64url"),
          attestationObject: attestation.toString("base64url"),
          transports: ["internal"],
        },
      }
    },
    /** Signs a challenge for the server's options. */
    get({ challenge, rpId }: { challenge: string; rpId: string }, defects: Defects = {}) {
      count += 1
      const data = authData(rpId, 0x05, defects)
      const client = clientData("webauthn.get", challenge, defects)
      const signature = signed(Buffer.concat([data, sha256(client)]), privateKey, algorithm)
      if (defects.forged) signature[signature.length - 1]! ^= 1
      return {
        id: id.toString("base64url"),
        rawId: id.toString("base64url"),
        type: "public-key",
        clientExtensionResults: {},
        response: {
          clientDataJSON: client.toString("base64url"),
          authenticatorData: data.toString("base64url"),
          signature: signature.toString("base64url"),
          userHandle: defects.userHandle ?? userHandle,
        },
      }
    },
  }
}

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest()

function keysOf(algorithm: Algorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  if (algorithm === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" })
  if (algorithm === "EdDSA") return generateKeyPairSync("ed25519")
  return generateKeyPairSync("rsa", { modulusLength: 2_048 })
}

const signed = (data: Buffer, key: KeyObject, algorithm: Algorithm): Buffer => sign(algorithm === "EdDSA" ? null : "sha256", data, key)

/** The COSE key as pairs, with integers as labels. */
function coseOf(key: KeyObject, algorithm: Algorithm): [number, number | Buffer][] {
  const { x, y, n, e } = key.export({ format: "jwk" }) as Record<"x" | "y" | "n" | "e", string>
  const raw = (value: string) => Buffer.from(value, "base64url")
  if (algorithm === "ES256")
    return [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, raw(x)],
      [-3, raw(y)],
    ]
  if (algorithm === "EdDSA")
    return [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, raw(x)],
    ]
  return [
    [1, 3],
    [3, -257],
    [-1, raw(n)],
    [-2, raw(e)],
  ]
}

const cborMap = (pairs: [number, number | Buffer][]): Buffer =>
  Buffer.concat([
    head(5, pairs.length),
    ...pairs.flatMap(([name, value]) => [number(name), typeof value === "number" ? number(value) : bytes(value)]),
  ])
const number = (value: number): Buffer => (value >= 0 ? head(0, value) : head(1, -1 - value))
const bytes = (value: Buffer): Buffer => Buffer.concat([head(2, value.length), value])
const text = (value: string): Buffer => Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value])
  if (value < 256) return Buffer.from([(major << 5) | 24, value])
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255])
}
