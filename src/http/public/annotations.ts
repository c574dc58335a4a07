import { AnnotationInput } from "../../domain/annotation.ts"
import type { Annotations } from "../../services/definitions/annotations.ts"
import type { ApiKeyAuth } from "../auth.ts"
import type { creation } from "./creation.ts"
import { parameter } from "./parameters.ts"
import { AnnotationResponse, toAnnotationResponse } from "./shown.ts"
import { thingRoutes } from "./things.ts"

const day = (description: string) => parameter({ type: "string", format: "date", description })

/** Creates the routes for annotations, which everyone with access to the site can see. */
export const annotationRoutes = (auth: ApiKeyAuth, create: ReturnType<typeof creation>, annotations: Annotations) =>
  thingRoutes(auth, create, {
    path: "annotations",
    noun: "annotation",
    read: ["annotations:read"],
    write: ["annotations:write"],
    things: annotations,
    input: AnnotationInput,
    shown: AnnotationResponse,
    show: toAnnotationResponse,
    listed: {
      kind: "dated",
      query: { from: day("First day in the time zone of the site. Requires `to`."), to: day("Last day, inclusive. Requires `from`.") },
      read: (site, { days, ...slice }) => (days ? annotations.listWithin(site, days, slice) : annotations.list(site, slice)),
    },
  })
