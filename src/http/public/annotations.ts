import { AnnotationInput } from "../../domain/annotation.ts"
import type { Annotations } from "../../services/annotations.ts"
import type { ApiKeyAuth } from "../auth.ts"
import type { creation } from "./creation.ts"
import { parameter } from "./parameters.ts"
import { AnnotationShown, shownAnnotation } from "./shown.ts"
import { thingRoutes } from "./things.ts"

const day = (description: string) => parameter({ type: "string", format: "date", description })

/** Notes at moments of a site's history, seen by everybody who may read the site. */
export const annotationRoutes = (auth: ApiKeyAuth, create: ReturnType<typeof creation>, annotations: Annotations) =>
  thingRoutes(auth, create, {
    path: "annotations",
    noun: "annotation",
    read: ["annotations:read"],
    write: ["annotations:write"],
    things: annotations,
    input: AnnotationInput,
    shown: AnnotationShown,
    show: shownAnnotation,
    listed: {
      kind: "dated",
      query: { from: day("First day, in the site's zone; with to"), to: day("Last day, included") },
      read: (site, { days, ...slice }) => (days ? annotations.listWithin(site, days, slice) : annotations.list(site, slice)),
    },
  })
