"""Saved views, of their owners and shared: cases for api_test.py."""

import urllib.parse

from world import Client


class ViewCases:
    """The resource /views."""

    def user(self, name, role="viewer"):
        token = self.api("PUT", f"/tokens/{name}", {"role": role}).json()["token"]
        client = Client(self.server, self.contract, token=token)
        self.addCleanup(client.close)
        self.addCleanup(self.api, "DELETE", f"/tokens/{name}")
        return client

    def put_view(self, client, name, status=201, **settings):
        path = f"/views/{urllib.parse.quote(name, safe='')}"
        answer = client("PUT", path, {"query": "q=status:failed", **settings})
        self.assertEqual(answer.status, status, answer.body)
        self.addCleanup(client, "DELETE", path)
        return answer.json()

    def names(self, client, **query):
        return [(view["name"], view["is_own"]) for view in client.get("/views", **query).json()["items"]]

    def test_keeps_views_of_their_owner(self):
        ann, bob = self.user("view-ann"), self.user("view-bob")
        view = self.put_view(ann, "Späte Aufträge", query="q=status:dead_letter&sort=created")
        self.assertEqual(
            {name: value for name, value in view.items() if name != "updated_at"},
            {"name": "Späte Aufträge", "owner": "token:view-ann", "page": "instances", "is_shared": False,
             "query": "q=status:dead_letter&sort=created", "is_own": True},
        )
        path = f"/views/{urllib.parse.quote('Späte Aufträge')}"
        self.assertEqual(ann.get(path).json(), view)
        again = self.put_view(ann, "Späte Aufträge", status=200, query="q=x", page="failures")
        self.assertEqual((again["query"], again["page"]), ("q=x", "failures"))
        self.assertEqual(self.names(ann), [("Späte Aufträge", True)])
        self.assertEqual(self.names(ann, page="instances"), [])
        # What is not shared does not exist for others.
        self.assertEqual(self.names(bob), [])
        self.problem(bob.get(path), 404, "not_found")
        self.problem(bob("DELETE", path), 404, "not_found")
        self.assertEqual(ann("DELETE", path).status, 204)
        self.problem(ann.get(path), 404, "not_found")

    def test_shares_views(self):
        ann, bob = self.user("view-ann"), self.user("view-bob")
        self.put_view(ann, "urgent", is_shared=True)
        self.assertEqual(self.names(bob), [("urgent", False)])
        self.assertEqual(bob.get("/views/urgent").json()["owner"], "token:view-ann")
        self.problem(bob("DELETE", "/views/urgent"), 403, "not_allowed")
        # A view of the same name is another one.
        self.put_view(bob, "urgent", query="q=mine")
        self.assertEqual(self.names(bob), [("urgent", False), ("urgent", True)])
        self.assertEqual(bob.get("/views/urgent").json()["query"], "q=mine")
        self.assertEqual(ann.get("/views/urgent").json()["query"], "q=status:failed")
        self.assertEqual(bob("DELETE", "/views/urgent").status, 204)
        self.assertEqual(bob.get("/views/urgent").json()["query"], "q=status:failed")
        # It is shared no longer.
        self.put_view(ann, "urgent", status=200)
        self.problem(bob.get("/views/urgent"), 404, "not_found")
        self.put_view(ann, "urgent", status=200, is_shared=True)
        # Its owner may be gone.
        self.assertEqual(self.api("DELETE", "/views/urgent").status, 204)
        self.assertEqual(self.names(ann), [])

    def test_refuses_what_is_no_view(self):
        put = self.api
        for body in ({}, {"query": ""}, {"query": 1}, {"query": "q", "page": "settings"},
                     {"query": "q", "is_shared": "yes"}, {"query": "q", "shared": True},
                     {"query": "x" * 4097}):
            answer = put("PUT", "/views/wrong", body)
            self.assertEqual(answer.status, 400, answer.body)
        for name in ("a/b", "a\nb", "x" * 129, "\u202eabc"):
            answer = put("PUT", f"/views/{urllib.parse.quote(name, safe='')}", {"query": "q"})
            self.problem(answer, 400, "invalid_argument")
        # What is not UTF-8 is not a path.
        self.problem(put("PUT", "/views/%ff", {"query": "q"}), 404, "not_found")
        self.put_view(self.api, "x" * 128, query="x" * 4096)

    def test_has_a_limit_of_views_for_each_owner(self):
        ann, bob = self.user("view-ann"), self.user("view-bob")
        for n in range(100):
            self.put_view(ann, f"n{n}")
        said = self.problem(ann("PUT", "/views/more", {"query": "q"}), 422, "limit_exceeded")
        self.assertIn("100 views", said["detail"])
        self.put_view(ann, "n7", status=200)
        self.put_view(bob, "n7")

    def test_writes_views_into_the_audit(self):
        self.put_view(self.api, "seen")
        [row] = self.api.get("/audit", action="putView", target="/api/v1/views/seen").json()["items"]
        self.assertEqual(row["outcome"], "allowed")
