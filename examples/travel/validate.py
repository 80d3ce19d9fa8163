"""A worker written for WED-SQL, as it is: it checks orders. usage: validate.py URL"""

import sys

from BaseWorker import BaseClass


class Validate(BaseClass):
    def __init__(self, url):
        super().__init__("validate", url, 5, schema="agency")

    def wed_trans(self, payload):
        print(f"   Python (WED-SQL): the order of {payload['customer']} is valid", flush=True)
        return ("customer_status = 'Validated', order_status = 'Validated', "
                "hotel_status = 'Requested', air_ticket_status = 'Requested'")


Validate(sys.argv[1]).run()
